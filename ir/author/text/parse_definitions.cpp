// Definitions: names before '=', the op behind it, its pin, and how the graph's values come by their names.
// Ops that an author left without a name (inner calls, numbers) are named after their kind; where an author's
// own name is already taken by such a value, the author's wins and the other gives way.
#include "ir/author/text/foreign_words.h"
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>

namespace dfc::text {
namespace {

constexpr std::string_view provisional = "\x01"; // no author writes it by accident

} // namespace

bool Parser::readDefinition() {
  Expression expression;
  if (!readTargets() || !readExpression(expression) || !readPinSuffix() || !atEnd()) {
    return false;
  }
  define(expression);
  return true;
}

// A call whose result nobody names: only an assign has an effect beyond its result.
bool Parser::readAlone() {
  if (const FunctionRow* function = functionNamed(tokens_.now().text);
      function != nullptr && function->isUpdate) {
    return readUpdate(*function);
  }
  Expression call;
  if (!readExpression(call) || !readPinSuffix() || !atEnd()) {
    return false;
  }
  if (call.kind == Expression::Kind::Op && classOf(kindOf(call.attributes)) != OpClass::State) {
    const std::string_view op = nameOf(kindOf(call.attributes));
    complaints_.add(call.span, fmt::format("the result of {} is lost", op),
                    fmt::format("name it: h = {}(…)", op));
    return true;
  }
  if (call.kind == Expression::Kind::Made) {
    complaints_.add(call.span, "the result is lost", "name it: rate = …");
    return true;
  }
  valueOf(call);
  return true;
}

bool Parser::readTarget() {
  const Token token = tokens_.now();
  std::string_view name;
  if (!readName("a name", name)) {
    return false;
  }
  if (name.empty()) {
    complaints_.add(spanOf(token), "an empty name", "give the value a name of at least one letter");
    return false;
  }
  targets_.push_back({name, token, std::nullopt, {}});
  if (!tokens_.accept(TokenKind::Colon)) {
    return true;
  }
  const Token first = tokens_.now();
  TensorType type;
  if (!readType(type)) {
    return false;
  }
  targets_.back().type = type;
  targets_.back().typeSpan = spanOf(first, tokens_.last());
  return true;
}

bool Parser::readTargets() {
  do {
    if (!readTarget()) {
      return false;
    }
  } while (tokens_.accept(TokenKind::Comma));
  if (!tokens_.expect(TokenKind::Equals, "'='", "a definition is: NAME = OP(operands)")) {
    return false;
  }
  tokens_.skipNewlines();
  return true;
}

// NAME : TYPE, the start of an input, a parameter or a constant.
bool Parser::readDeclaration() {
  if (!readTarget()) {
    return false;
  }
  const std::string wayOut = fmt::format("give its type: {} : f32[2, 3]", targets_.front().token.text);
  return targets_.front().type.has_value() || tokens_.unexpected("':' and a type", wayOut);
}

bool Parser::readPinSuffix() {
  if (tokens_.now().kind != TokenKind::Name || tokens_.now().text != "on") {
    return true;
  }
  tokens_.take();
  std::string_view pin;
  if (!readName("a device after 'on'", pin)) {
    return false;
  }
  const auto made = static_cast<uint32_t>(builder_.soFar().opCount());
  for (const OpId op : IdRange<OpId>(statementFirstOp_, made)) {
    builder_.repin(op, pin);
  }
  statementPin_ = pin;
  return true;
}

bool Parser::atEnd() {
  return tokens_.atEndOfStatement() ||
         tokens_.unexpected("the end of the line", hintAfterStatement(tokens_.now().text));
}

bool Parser::finishSource(OpAttributes attributes, bool sound) {
  Expression source;
  source.span = spanOf(targets_.front().token, tokens_.last());
  if (!readPinSuffix() || !atEnd()) {
    return false;
  }
  if (sound) {
    source.kind = Expression::Kind::Op;
    source.attributes = std::move(attributes);
  }
  define(source);
  return true;
}

void Parser::define(Expression& expression) {
  const OpId op = makeDefined(expression);
  if (op.valid()) {
    nameResults(op);
  }
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Target& target = targets_[i];
    const ValueId value = op.valid() ? builder_.result(op, static_cast<uint32_t>(i)) : ValueId();
    if (symbols_.declare(target.name, target.token) && op.valid() && annotationHolds(target, value, op)) {
      symbols_.define(target.name, value);
    }
  }
  targets_.clear();
}

// Appends the op that the targets name; invalid when there is none, or not one with so many results.
OpId Parser::makeDefined(Expression& expression) {
  const std::string_view name = targets_.front().name;
  if (expression.kind == Expression::Kind::Number) {
    complaints_.add(
        expression.span, fmt::format("{} is given a number, but no type", shown(name)),
        fmt::format("declare a constant: constant {} : f32[] = 0.5", targets_.front().token.text));
  }
  if (expression.kind == Expression::Kind::Value && expression.value.valid()) {
    complaints_.add(expression.span,
                    fmt::format("{} would be a second name of an existing value", shown(name)),
                    "use the value under its own name; a fetch can have another: fetch NAME = value");
  }
  if (expression.kind != Expression::Kind::Op && expression.kind != Expression::Kind::Made) {
    return {};
  }
  for (const Target& target : targets_) {
    makeRoom(target.name);
  }
  if (expression.kind == Expression::Kind::Made) {
    builder_.rename(expression.value, name);
    return resultsAreNamed(builder_.soFar()[expression.value].producer, "the function");
  }
  const std::string_view opName = nameOf(kindOf(expression.attributes));
  return resultsAreNamed(append(expression, targets_.front().name), opName);
}

// The op, unless it has not as many results as there are targets, which is said.
OpId Parser::resultsAreNamed(OpId op, std::string_view what) {
  const size_t results = op.valid() ? builder_.soFar()[op].resultCount : targets_.size();
  if (results == targets_.size()) {
    return op;
  }
  complaints_.add(spanOf(targets_.front().token, targets_.back().token),
                  fmt::format("{} gives {} result{}, but {} name{} before '='", what, results,
                              results == 1 ? "" : "s", targets_.size(),
                              targets_.size() == 1 ? " stands" : "s stand"),
                  "give each result one name");
  return {};
}

// The builder named the first result; the others wait under provisional names until all of theirs are free.
void Parser::nameResults(OpId op) {
  for (uint32_t i = 1; i < targets_.size(); ++i) {
    builder_.rename(builder_.result(op, i), provisional);
  }
  for (uint32_t i = 1; i < targets_.size(); ++i) {
    builder_.rename(builder_.result(op, i), targets_[i].name);
  }
}

bool Parser::annotationHolds(const Target& target, ValueId value, OpId op) {
  const TensorType& type = builder_.soFar().typeOf(value);
  if (!target.type || *target.type == type) {
    return true;
  }
  complaints_.add(target.typeSpan,
                  fmt::format("{} is annotated {}, but {} gives {}", shown(target.name),
                              toString(*target.type), nameOf(builder_.soFar()[op].kind()), toString(type)),
                  fmt::format("write {}, or leave the annotation out", toString(type)));
  return false;
}

void Parser::makeRoom(std::string_view name) {
  const ValueId taken = builder_.soFar().findValue(name);
  if (taken.valid()) {
    displaced_.emplace_back(taken, name);
    builder_.rename(taken, provisional);
  }
}

void Parser::renameDisplaced() {
  for (const auto& [value, name] : displaced_) {
    builder_.rename(value, name);
  }
  displaced_.clear();
}

} // namespace dfc::text
