// Types, numbers, strings and the literals of constants. A list grows as it is read, so that a type which
// promises more than the text holds costs nothing; the sum of `fill` constants is limited, as a line of text
// could ask for any amount of memory.
#include "ir/text/parser.h"
#include "ir/text/quote.h"
#include "ir/text/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

namespace dfc::text {
namespace {

constexpr int64_t mostFillBytes = int64_t(1) << 30;

std::vector<std::string> elementNames() {
  std::vector<std::string> names;
  for (const ElementType type : allElementTypes) {
    names.emplace_back(name(type));
  }
  return names;
}

// The first element stands at the front; each round doubles how many do.
void repeatFirst(std::span<std::byte> bytes, size_t width) {
  for (size_t filled = width; filled < bytes.size();) {
    const size_t now = std::min(filled, bytes.size() - filled);
    std::memcpy(bytes.data() + filled, bytes.data(), now);
    filled += now;
  }
}

} // namespace

bool Parser::readElementType(ElementType& out) {
  const Token token = tokens_.now();
  if (token.kind != TokenKind::Name) {
    return tokens_.unexpected("an element type",
                              fmt::format("it is one of {}", fmt::join(elementNames(), ", ")));
  }
  const auto found = elementTypeNamed(token.text);
  if (!found) {
    const auto nearest =
        token.text.size() <= 64 ? nearestName(std::string(token.text), elementNames()) : std::nullopt;
    complaints_.add(spanOf(token), fmt::format("unknown element type {}", shown(token.text)),
                    fmt::format("{}it is one of {}",
                                nearest ? fmt::format("did you mean {}? ", shown(*nearest)) : "",
                                fmt::join(elementNames(), ", ")));
    return false;
  }
  tokens_.take();
  out = *found;
  return true;
}

bool Parser::readType(TensorType& out) {
  const Token first = tokens_.now();
  llvm::SmallVector<int64_t, 8> dims;
  if (!readElementType(out.element)) {
    return false;
  }
  if (!tokens_.at(TokenKind::OpenList)) {
    return tokens_.unexpected("'[' and the shape", fmt::format("a scalar is {}[]", name(out.element)));
  }
  if (!readDims(dims)) {
    return false;
  }
  if (!Shape::valid(dims)) {
    complaints_.add(
        spanOf(first, tokens_.last()), fmt::format("[{}] is no shape", fmt::join(dims, ", ")),
        fmt::format("a shape has at most {} dimensions, each 0 or more, and fewer than 2^60 elements",
                    Shape::maxRank));
    return false;
  }
  out.shape = Shape(dims);
  return true;
}

bool Parser::readDims(llvm::SmallVectorImpl<int64_t>& out) {
  const Token open = tokens_.now();
  if (!tokens_.expect(TokenKind::OpenList, "'['", "a list is written [1, 2, 3]")) {
    return false;
  }
  tokens_.skipNewlines();
  if (tokens_.accept(TokenKind::CloseList)) {
    return true;
  }
  do {
    tokens_.skipNewlines();
    if (!readInteger(out.emplace_back())) {
      return false;
    }
    tokens_.continueLineAt(TokenKind::CloseList);
  } while (tokens_.accept(TokenKind::Comma));
  if (!tokens_.expect(TokenKind::CloseList, "',' or ']'")) {
    return false;
  }
  if (out.size() > Shape::maxRank) {
    complaints_.add(spanOf(open, tokens_.last()), fmt::format("a list of {} numbers", out.size()),
                    fmt::format("a tensor has at most {} dimensions", Shape::maxRank));
    return false;
  }
  return true;
}

bool Parser::readInteger(int64_t& out) {
  NumberWords number;
  Span span;
  if (!readNumber(number, span)) {
    return false;
  }
  const std::string problem = text::readInteger(number, out);
  if (!problem.empty()) {
    complaints_.add(span, problem);
  }
  return problem.empty();
}

bool Parser::readDouble(double& out) {
  return readElement(ElementType::F64, reinterpret_cast<std::byte*>(&out));
}

bool Parser::readString(std::string& out) {
  if (!tokens_.at(TokenKind::String)) {
    return tokens_.unexpected("a string in quotes");
  }
  const Token token = tokens_.take();
  auto bytes = unquote(token.text);
  if (!bytes) {
    complaints_.add(spanOf(token), "this string has an escape that is not known", std::string(knownEscapes));
    return false;
  }
  out = std::move(*bytes);
  return true;
}

bool Parser::readNumber(NumberWords& out, Span& span) {
  const Token first = tokens_.now();
  out.negative = tokens_.accept(TokenKind::Minus);
  const Token word = tokens_.now();
  if (word.kind != TokenKind::Number && !(word.kind == TokenKind::Name && isNumberWord(word.text))) {
    return tokens_.unexpected("a number");
  }
  tokens_.take();
  out.word = word.text;
  if (word.text == "nan" && tokens_.accept(TokenKind::OpenParen) && !readPayload(out)) {
    return false;
  }
  span = spanOf(first, tokens_.last());
  return true;
}

bool Parser::readPayload(NumberWords& out) {
  if (!tokens_.at(TokenKind::Number)) {
    return tokens_.unexpected("the payload of a NaN", "for example nan(0x1)");
  }
  out.payload = tokens_.take().text;
  return tokens_.expect(TokenKind::CloseParen, "')'");
}

bool Parser::readElement(ElementType type, std::byte* out) {
  NumberWords number;
  Span span;
  if (!readNumber(number, span)) {
    return false;
  }
  std::string problem = text::readElement(number, type, out);
  if (!problem.empty()) {
    complaints_.add(span, std::move(problem));
    return false;
  }
  return true;
}

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
  std::memcpy(out.mutableBytes().data(), bytes.data(), bytes.size());
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
