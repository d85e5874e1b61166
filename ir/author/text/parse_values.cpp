// Types, numbers and strings of graph files.
#include "ir/author/text/foreign_words.h"
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::text {
namespace {

std::vector<std::string> elementNames() {
  std::vector<std::string> names;
  names.reserve(allElementTypes.size());
  for (const ElementType type : allElementTypes) {
    names.emplace_back(name(type));
  }
  return names;
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
    const auto foreign = foreignElementType(token.text);
    const auto nearest = foreign                   ? std::optional(std::string(name(*foreign)))
                         : token.text.size() <= 64 ? nearestName(std::string(token.text), elementNames())
                                                   : std::nullopt;
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
  Dims dims;
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

bool Parser::readDims(Dims& out, bool isOfAxes) {
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
    if (tokens_.at(TokenKind::Name) && !isNumberWord(tokens_.now().text)) {
      return tokens_.unexpected("a number", "a graph is made for one length of each dimension: f32[32, 8]");
    }
    if (!readInteger(out.emplace_back())) {
      return false;
    }
    tokens_.continueLineAt(TokenKind::CloseList);
  } while (tokens_.accept(TokenKind::Comma));
  if (!tokens_.expect(TokenKind::CloseList, "',' or ']'")) {
    return false;
  }
  if (isOfAxes && out.size() > Shape::maxRank) {
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

} // namespace dfc::text
