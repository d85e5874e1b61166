#include "ir/base/utf8.h"

#include <llvm/Support/ConvertUTF.h>

#include <algorithm>

namespace dfc {
namespace {

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

} // namespace

uint32_t codePoints(std::string_view text) {
  return static_cast<uint32_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !isContinuation(c); }));
}

size_t codePointLength(std::string_view text) {
  const auto* begin = reinterpret_cast<const llvm::UTF8*>(text.data());
  const unsigned length = llvm::getNumBytesForUTF8(*begin);
  return length <= text.size() && llvm::isLegalUTF8Sequence(begin, begin + length) != 0 ? length : 0;
}

// Of one byte, or a code point from U+0080 to U+009F: terminals obey those too.
bool startsWithControl(std::string_view text) {
  const bool second = text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
  return isControl(text.front()) || second;
}

std::optional<size_t> firstBadUtf8(std::string_view text) {
  const auto* at = reinterpret_cast<const llvm::UTF8*>(text.data());
  const auto* begin = at;
  if (llvm::isLegalUTF8String(&at, begin + text.size()) != 0) {
    return std::nullopt;
  }
  return static_cast<size_t>(at - begin);
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = codePointLength(text);
    if (length == 0 || (startsWithControl(text) && text.front() != '\t')) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(std::max<size_t>(length, 1));
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

} // namespace dfc
