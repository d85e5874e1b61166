// The literals of constants. A list grows as it is read, so that a type which promises more than the text
// holds costs nothing; the sum of `fill` constants is limited, as a line of text could ask for any amount of
// memory.
#include "ir/author/text/parser.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dfc::text {
namespace {

constexpr int64_t mostFillBytes = int64_t(1) << 30;

// The first element stands at the front; each round doubles how many do.
void repeatFirst(std::span<std::byte> bytes, size_t width) {
  for (size_t filled = width; filled < bytes.size();) {
    const size_t now = std::min(filled, bytes.size() - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), now);
    filled += now;
  }
}

} // namespace

bool Parser::readLiteral(const TensorType& type, Literal& out) {
  tokens_.skipNewlines();
  if (tokens_.at(TokenKind::Name) && tokens_.now().text == "fill") {
    return readFill(type, out);
  }
  std::vector<std::byte> bytes;
  if (!(type.shape.rank() == 0 ? readListItem(type, 0, bytes) : readList(type, 0, bytes))) {
    return false;
  }
  out = Literal(type);
  DFC_ASSERT(bytes.size() == out.bytes().size(), "every level of the lists was counted");
  std::copy(bytes.begin(), bytes.end(), out.mutableBytes().begin());
  return true;
}

bool Parser::readFill(const TensorType& type, Literal& out) {
  const Token word = tokens_.take();
  std::array<std::byte, 8> element{};
  if (!tokens_.expect(TokenKind::OpenParen, "'('", "every element the same: fill(0.5)") ||
      !readElement(type.element, element.data()) || !tokens_.expect(TokenKind::CloseParen, "')'")) {
    return false;
  }
  if (type.bytes() > mostFillBytes - fillBytes_) {
    complaints_.add(spanOf(word, tokens_.last()),
                    fmt::format("the constants of this file made by fill exceed {} with the {} of this one",
                                humanBytes(mostFillBytes), humanBytes(type.bytes())),
                    "broadcast a scalar: broadcast(c, shape=[…]), or start a parameter with constant(…)");
    return false;
  }
  fillBytes_ += type.bytes();
  out = Literal(type);
  const auto bytes = out.mutableBytes();
  std::memcpy(bytes.data(), element.data(),
              std::min(bytes.size(), static_cast<size_t>(byteWidth(type.element))));
  repeatFirst(bytes, static_cast<size_t>(byteWidth(type.element)));
  return true;
}

// One dimension's worth of lists. A type without elements may also be written as one empty list.
bool Parser::readList(const TensorType& type, size_t axis, std::vector<std::byte>& out) {
  const Token open = tokens_.now();
  if (!tokens_.expect(TokenKind::OpenList, fmt::format("'[' with the elements along axis {}", axis))) {
    return false;
  }
  int64_t count = 0;
  tokens_.skipNewlines();
  if (!tokens_.at(TokenKind::CloseList)) {
    do {
      tokens_.skipNewlines();
      if (!readListItem(type, axis, out)) {
        return false;
      }
      ++count;
      tokens_.continueLineAt(TokenKind::CloseList);
    } while (tokens_.accept(TokenKind::Comma));
  }
  if (!tokens_.expect(TokenKind::CloseList, "',' or ']'")) {
    return false;
  }
  if (count == type.shape[axis] || (axis == 0 && count == 0 && type.shape.elements() == 0)) {
    return true;
  }
  complaints_.add(spanOf(open, tokens_.last()),
                  fmt::format("{} element{} here, but axis {} of {} has {}", count, count == 1 ? "" : "s",
                              axis, toString(type), type.shape[axis]),
                  "every list of an axis has as many elements as the type says; fill(x) makes all of them x");
  return false;
}

bool Parser::readListItem(const TensorType& type, size_t axis, std::vector<std::byte>& out) {
  if (axis + 1 < type.shape.rank()) {
    return readList(type, axis + 1, out);
  }
  const auto width = static_cast<size_t>(byteWidth(type.element));
  out.resize(out.size() + width);
  return readElement(type.element, out.data() + out.size() - width);
}

} // namespace dfc::text
