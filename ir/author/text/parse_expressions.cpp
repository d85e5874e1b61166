// Expressions: calls, names, numbers, and infix + - * / with the usual precedence (precedence climbing by two
// levels).
#include "ir/author/text/parser.h"

namespace dfc::text {
namespace {

using Kind = Expression::Kind;

} // namespace

bool Parser::readExpression(Expression& out) {
  const Depth depth(*this);
  if (!depth.fine() || !readProduct(out)) {
    return false;
  }
  while (tokens_.at(TokenKind::Plus) || tokens_.at(TokenKind::Minus)) {
    const OpKind kind = tokens_.take().kind == TokenKind::Plus ? OpKind::Add : OpKind::Sub;
    tokens_.skipNewlines();
    Expression right;
    if (!readProduct(right)) {
      return false;
    }
    combine(kind, out, right);
  }
  return true;
}

bool Parser::readProduct(Expression& out) {
  if (!readSigned(out)) {
    return false;
  }
  while (tokens_.at(TokenKind::Star) || tokens_.at(TokenKind::Slash)) {
    const OpKind kind = tokens_.take().kind == TokenKind::Star ? OpKind::Mul : OpKind::Div;
    tokens_.skipNewlines();
    Expression right;
    if (!readSigned(right)) {
      return false;
    }
    combine(kind, out, right);
  }
  return true;
}

// A minus before a number is part of it; before anything else it is neg.
bool Parser::readSigned(Expression& out) {
  const bool number = tokens_.ahead().kind == TokenKind::Number || isNumberWord(tokens_.ahead().text);
  if (!tokens_.at(TokenKind::Minus) || number) {
    return readPrimary(out);
  }
  const Depth depth(*this);
  const Token sign = tokens_.take();
  std::vector<Expression> operands(1);
  if (!depth.fine() || !readSigned(operands.front())) {
    return false;
  }
  makeOp(ops::Neg{}, operands, spanOf(sign, tokens_.last()), out);
  return true;
}

bool Parser::readPrimary(Expression& out) {
  const Token& token = tokens_.now();
  if (token.kind == TokenKind::Minus || token.kind == TokenKind::Number ||
      (token.kind == TokenKind::Name && isNumberWord(token.text))) {
    return readNumberOperand(out);
  }
  if (token.kind == TokenKind::OpenParen) {
    return readParenthesised(out);
  }
  if (!TokenStream::isName(token)) {
    return tokens_.unexpected("a value",
                              token.kind == TokenKind::Star ? "a power is pow(a, b)"
                              : token.kind == TokenKind::OpenList
                                  ? "a list is the value of an attribute, by its name: shape=[2, 3]"
                                  : "");
  }
  if (token.kind == TokenKind::Name && tokens_.ahead().kind == TokenKind::OpenParen) {
    return readCall(out);
  }
  std::string_view name;
  out.kind = Kind::Value;
  out.span = spanOf(token);
  const Token where = token;
  if (!readName("a value", name)) {
    return false;
  }
  out.value = symbols_.use(name, where);
  return true;
}

bool Parser::readNumberOperand(Expression& out) {
  out.kind = Kind::Number;
  return readNumber(out.number, out.span);
}

bool Parser::readParenthesised(Expression& out) {
  tokens_.take();
  tokens_.skipNewlines();
  if (!readExpression(out)) {
    return false;
  }
  tokens_.continueLineAt(TokenKind::CloseParen);
  return tokens_.expect(TokenKind::CloseParen, "')'");
}

bool Parser::readCall(Expression& out) {
  const Token name = tokens_.take();
  if (const FunctionRow* function = functionNamed(name.text)) {
    return readFunction(*function, name, out);
  }
  const std::optional<OpKind> kind = opNamed(name);
  std::optional<OpAttributes> attributes = kind ? std::optional(defaultAttributes(*kind)) : std::nullopt;
  std::vector<Expression> operands;
  uint64_t given = 0;
  tokens_.take(); // the parenthesis
  if (!readArguments(attributes, given, operands)) {
    return false;
  }
  out.span = spanOf(name, tokens_.last());
  if (kind && checkRequired(name, *kind, given)) {
    makeOp(std::move(*attributes), operands, out.span, out);
  }
  return true;
}

bool Parser::readArguments(std::optional<OpAttributes>& attributes, uint64_t& given,
                           std::vector<Expression>& operands) {
  tokens_.skipNewlines();
  if (tokens_.accept(TokenKind::CloseParen)) {
    return true;
  }
  do {
    tokens_.skipNewlines();
    const bool attribute = tokens_.at(TokenKind::Name) && tokens_.ahead().kind == TokenKind::Equals;
    if (attribute ? !(attributes ? readAttribute(*attributes, given) : skipAttribute())
                  : !readExpression(operands.emplace_back())) {
      return false;
    }
    tokens_.continueLineAt(TokenKind::CloseParen);
  } while (tokens_.accept(TokenKind::Comma));
  return tokens_.expect(TokenKind::CloseParen, "',' or ')'");
}

} // namespace dfc::text
