// See quote.h. UTF-8 is judged by LLVM's ConvertUTF.
#include "ir/author/text/quote.h"
#include "ir/base/utf8.h"

#include "ir/author/text/lexer.h"

#include <fmt/format.h>
#include <llvm/Support/ConvertUTF.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace dfc::text {
namespace {

void appendEscaped(std::string& out, char c) {
  switch (c) {
  case '"': out += "\\\""; break;
  case '\\': out += "\\\\"; break;
  case '\n': out += "\\n"; break;
  case '\t': out += "\\t"; break;
  case '\r': out += "\\r"; break;
  default: fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
}

std::optional<uint32_t> hexadecimal(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool appendCodePoint(std::string& out, uint32_t codePoint) {
  std::array<char, UNI_MAX_UTF8_BYTES_PER_CODE_POINT> bytes{};
  char* end = bytes.data();
  if (!llvm::ConvertCodePointToUTF8(codePoint, end)) {
    return false;
  }
  out.append(bytes.data(), end);
  return true;
}

// Reads the escape at the start of `rest` (after the backslash), appends what it stands for and drops it.
bool readEscape(std::string_view& rest, std::string& out) {
  constexpr std::string_view letters = "\"\\ntr";
  constexpr std::string_view meanings = "\"\\\n\t\r";
  if (const size_t plain = letters.find(rest.front()); plain != std::string_view::npos) {
    out += meanings[plain];
    rest.remove_prefix(1);
    return true;
  }
  if (rest.front() == 'x') {
    const auto byte = rest.size() >= 3 ? hexadecimal(rest.substr(1, 2)) : std::nullopt;
    out += static_cast<char>(byte.value_or(0));
    rest.remove_prefix(std::min<size_t>(3, rest.size()));
    return byte.has_value();
  }
  const size_t close = rest.find('}');
  if (rest.substr(0, 2) != "u{" || close == std::string_view::npos) {
    return false;
  }
  const auto codePoint = hexadecimal(rest.substr(2, close - 2));
  rest.remove_prefix(close + 1);
  return codePoint && appendCodePoint(out, *codePoint);
}

} // namespace

bool isPlainName(std::string_view name) {
  constexpr std::array<std::string_view, 4> numbers = {"inf", "nan", "true", "false"};
  Lexer lexer(name);
  const Token token = lexer.next();
  return token.kind == TokenKind::Name && token.text.size() == name.size() &&
         std::find(numbers.begin(), numbers.end(), name) == numbers.end();
}

void appendName(std::string& out, std::string_view name) {
  if (isPlainName(name)) {
    out += name;
  } else {
    appendQuoted(out, name);
  }
}

std::string written(std::string_view name) {
  std::string out;
  appendName(out, name);
  return out;
}

void appendQuoted(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const size_t length = codePointLength(text);
    if (length == 0 || startsWithControl(text) || text.front() == '"' || text.front() == '\\') {
      for (const char byte : text.substr(0, std::max<size_t>(length, 1))) {
        appendEscaped(out, byte);
      }
      text.remove_prefix(std::max<size_t>(length, 1));
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  out += '"';
}

std::optional<std::string> unquote(std::string_view quoted) {
  std::string_view rest = quoted.substr(1, quoted.size() - 2);
  std::string out;
  while (!rest.empty()) {
    const size_t plain = std::min(rest.find('\\'), rest.size());
    out += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) {
      break;
    }
    rest.remove_prefix(1);
    if (rest.empty() || !readEscape(rest, out)) {
      return std::nullopt;
    }
  }
  return out;
}

std::string shown(std::string_view text) {
  constexpr size_t longest = 60;
  std::string escaped;
  if (text.size() <= longest) {
    appendQuoted(escaped, text);
  } else {
    appendQuoted(escaped, text.substr(0, longest / 2));
    std::string tail;
    appendQuoted(tail, text.substr(text.size() - longest / 2));
    escaped.replace(escaped.size() - 1, 1, "…" + tail.substr(1));
  }
  std::string out = "'";
  for (size_t i = 1; i + 1 < escaped.size(); ++i) {
    const bool quoteAhead = escaped[i] == '\\' && escaped[i + 1] == '"';
    out += escaped[quoteAhead ? ++i : i]; // inside '…' a double quote needs no escape
  }
  return out + "'";
}

} // namespace dfc::text
