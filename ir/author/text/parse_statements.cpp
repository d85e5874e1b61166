// Statements of a graph file. A word such as `input` begins a statement only where a definition cannot:
// before
// '=', ',' or ':' it is an ordinary name, so that no word is forbidden as a name.
#include "ir/author/text/initialisers.h"
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dfc::text {
namespace {

const std::vector<std::string> keywords = {"input", "parameter", "constant", "scope", "on", "fetch"};

bool isKeyword(std::string_view word) {
  return std::find(keywords.begin(), keywords.end(), word) != keywords.end();
}

} // namespace

void Parser::readStatement() {
  const Token first = tokens_.now();
  targets_.clear();
  symbols_.beginStatement();
  statementPin_ = pin_;
  statementFirstOp_ = static_cast<uint32_t>(builder_.soFar().opCount());
  const bool sound = readStatementBody() && (abandoned_ || atEnd());
  for (const Target& target : targets_) { // whatever was not defined stands for an error from here on
    symbols_.declare(target.name, target.token);
  }
  renameDisplaced();
  if (sound) {
    return;
  }
  tokens_.recover(first);
  if (tokens_.accept(TokenKind::OpenBlock)) {
    readNested(first);
  }
}

bool Parser::readStatementBody() {
  const Token& word = tokens_.now();
  if (!TokenStream::isName(word)) {
    return tokens_.unexpected("a statement");
  }
  const TokenKind next = tokens_.ahead().kind;
  if (next == TokenKind::Equals || next == TokenKind::Comma || next == TokenKind::Colon) {
    return readDefinition();
  }
  if (word.kind == TokenKind::Name && isKeyword(word.text)) {
    return readKeyword();
  }
  return next == TokenKind::OpenParen ? readAlone() : refuseStatement();
}

bool Parser::readKeyword() {
  const std::string_view word = tokens_.take().text;
  if (word == "input") {
    return readInput();
  }
  if (word == "parameter") {
    return readParameter();
  }
  if (word == "constant") {
    return readConstant();
  }
  if (word == "scope") {
    return readScope();
  }
  return word == "on" ? readOn() : readFetch();
}

bool Parser::refuseStatement() {
  const Token word = tokens_.take();
  const Token next = tokens_.now();
  for (const Token& token : {word, next}) { // one of them is the name that the author meant to define
    if (TokenStream::isName(token)) {
      symbols_.poison(token.text, token);
    }
  }
  if (!TokenStream::isName(next)) {
    return tokens_.unexpected(fmt::format("'=' after {}", shown(word.text)),
                              "a definition is: NAME = OP(operands)");
  }
  const auto nearest = nearestName(std::string(word.text), keywords);
  complaints_.add(
      spanOf(word), fmt::format("unknown statement {}", shown(word.text)),
      nearest ? fmt::format("did you mean {}?", shown(*nearest))
              : "a statement is NAME = OP(operands), or starts with input, parameter, constant, scope, "
                "on or fetch");
  return false;
}

bool Parser::readScope() {
  const Token word = tokens_.last();
  const Token nameToken = tokens_.now();
  std::string_view name;
  std::string_view pin = pin_;
  bool sound = readName("a name for the scope", name);
  if (sound && tokens_.now().text == "on") {
    tokens_.take();
    sound = readName("a device after 'on'", pin);
  }
  const std::string outerScope = scope_;
  const std::string_view outerPin = std::exchange(pin_, pin);
  scope_ += (scope_.empty() ? "" : "/") + std::string(name);
  if (scope_.size() > longestName) {
    complaints_.add(
        spanOf(nameToken), fmt::format("a path of scopes of {} bytes", scope_.size()),
        fmt::format("the names of nested scopes, joined by '/', may have at most {}", longestName));
    scope_ = outerScope;
  }
  readBlockAfter(word, sound);
  scope_ = outerScope;
  pin_ = outerPin;
  targets_.clear();
  return true;
}

bool Parser::readOn() {
  const Token word = tokens_.last();
  std::string_view pin;
  const bool sound = readName("a device after 'on'", pin);
  const std::string_view outerPin = std::exchange(pin_, pin);
  readBlockAfter(word, sound);
  pin_ = outerPin;
  targets_.clear();
  return true;
}

// The block of a broken header is read too, for its own errors and so that its '}' closes it.
void Parser::readBlockAfter(const Token& word, bool headerSound) {
  if (headerSound) {
    enterBlock(word);
  } else {
    tokens_.recover(word);
    bracesSaid_ = !tokens_.accept(TokenKind::OpenBlock) || bracesSaid_;
  }
  readNested(word);
}

bool Parser::readInput() {
  if (!readDeclaration()) {
    return false;
  }
  ops::Input input;
  input.type = *targets_.front().type;
  if (tokens_.accept(TokenKind::Equals) && !readPlace(input)) {
    return false;
  }
  return finishSource(std::move(input), true);
}

bool Parser::readParameter() {
  if (!readDeclaration()) {
    return false;
  }
  ops::Parameter parameter;
  parameter.type = *targets_.front().type;
  bool sound = true;
  const std::string wayOut =
      fmt::format("say how it starts, for example = {}", formOf(parameter.initialiser).usage);
  return tokens_.expect(TokenKind::Equals, "'='", wayOut) && readInitialiser(parameter, sound) &&
         finishSource(std::move(parameter), sound);
}

bool Parser::readConstant() {
  if (!readDeclaration()) {
    return false;
  }
  ops::Constant constant;
  return tokens_.expect(TokenKind::Equals, "'='",
                        "say its value, for example = 0.5, = [1, 2] or = fill(0)") &&
         readLiteral(*targets_.front().type, constant.value) && finishSource(std::move(constant), true);
}

bool Parser::readFetch() {
  const Token token = tokens_.now();
  std::string_view name;
  if (!readName("the name of a value to fetch", name)) {
    return false;
  }
  ValueId value;
  if (tokens_.accept(TokenKind::Equals)) {
    Expression expression;
    if (!readExpression(expression)) {
      return false;
    }
    if (expression.kind == Expression::Kind::Number) {
      complaints_.add(expression.span, "a fetch takes a value of the graph, not a number", "name a value");
    }
    value = valueOf(expression);
  } else {
    value = symbols_.use(name, token);
  }
  const auto [first, isNew] = fetched_.try_emplace(llvm::StringRef(name.data(), name.size()), token.line);
  if (isNew) {
    builder_.fetch(name, value);
  } else {
    complaints_.add(spanOf(token), fmt::format("two fetches are named {}", shown(name)),
                    fmt::format("the first is on line {}; give each its own name", first->second));
  }
  return true;
}

} // namespace dfc::text
