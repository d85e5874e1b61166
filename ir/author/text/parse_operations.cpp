// From expressions to ops of the graph. An op is kept back until it is known whether an author names it; a
// number takes the element type of the tensors beside it and becomes a scalar constant.
#include "ir/author/text/foreign_words.h"
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace dfc::text {
namespace {

using Kind = Expression::Kind;

// The ops that are called, for hints: a source is a statement.
std::vector<std::string> callableOps() {
  std::vector<std::string> names;
  names.reserve(opKindCount);
  for (const FunctionRow& row : functionRows()) {
    names.emplace_back(row.name);
  }
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (classOf(kind) != OpClass::Source && !isCompilerMade(kind)) {
      names.emplace_back(opNames[i]);
    }
  }
  return names;
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

// The ops that have the word in their names, or whose names are in the word: of "norm" layerNorm and others.
std::vector<std::string> relatives(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t least = 3;
  const std::string lower = lowerCase(word);
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const std::string other = lowerCase(name);
    if (std::min(lower.size(), other.size()) >= least &&
        (other.find(lower) != std::string::npos || lower.find(other) != std::string::npos)) {
      found.push_back(name);
    }
  }
  return found;
}

// The whole list is no help in a line of text: it is in the reference of the C++ functions, which are the
// same.
std::string opHint(std::string_view word, const std::vector<std::string>& names) {
  constexpr size_t longest = 64;
  if (word.size() > longest) {
    return "no op has so long a name";
  }
  if (const auto nearest = nearestName(std::string(word), names)) {
    return fmt::format("did you mean {}?", shown(*nearest));
  }
  const std::vector<std::string> related = relatives(word, names);
  return related.empty() ? "no op has a name like it; the header dfc/dsl.h lists the ops with their operands"
                         : fmt::format("ops of like names: {}", fmt::join(related, ", "));
}

} // namespace

void Parser::combine(OpKind kind, Expression& left, Expression& right) {
  Span span = left.span;
  span.end = right.span.end;
  std::vector<Expression> operands;
  operands.reserve(2);
  operands.push_back(std::move(left));
  operands.push_back(std::move(right));
  left = Expression();
  makeOp(defaultAttributes(kind), operands, span, left);
}

// Inner ops are appended now, in the order of writing; numbers become constants once a type is known for
// them.
void Parser::makeOp(OpAttributes attributes, std::vector<Expression>& operands, const Span& span,
                    Expression& out) {
  out.kind = Kind::Op;
  out.span = span;
  out.attributes = std::move(attributes);
  for (Expression& operand : operands) {
    operand.value = valueOf(operand);
  }
  const bool numbers = std::any_of(operands.begin(), operands.end(),
                                   [](const Expression& operand) { return operand.kind == Kind::Number; });
  const std::optional<ElementType> type = numbers ? typeForNumbers(operands) : std::nullopt;
  for (const Expression& operand : operands) {
    out.operands.push_back(operand.kind == Kind::Number && type ? scalar(operand, *type) : operand.value);
  }
}

// Of the first tensor that is no bool (a condition says nothing about a number), else of a bool one. None
// when there is no tensor at all, which is said, or when all went wrong.
std::optional<ElementType> Parser::typeForNumbers(const std::vector<Expression>& operands) {
  std::optional<ElementType> type;
  bool tensors = false;
  for (const Expression& operand : operands) {
    tensors = tensors || operand.kind != Kind::Number;
    if (operand.value.valid() && (!type || *type == ElementType::Bool)) {
      type = builder_.soFar().typeOf(operand.value).element;
    }
  }
  if (!tensors) {
    complaints_.add(operands.front().span, "a number needs a tensor beside it, to take its type",
                    "declare a constant: constant c : f32[] = 0.5");
  }
  return type;
}

ValueId Parser::scalar(const Expression& number, ElementType type) {
  ops::Constant constant;
  constant.value = Literal({type, {}});
  const std::string problem = text::readElement(number.number, type, constant.value.mutableBytes().data());
  if (!problem.empty()) {
    complaints_.add(number.span, problem, fmt::format("the other operand is of {}", dfc::name(type)));
    return {};
  }
  Expression op;
  op.kind = Kind::Op;
  op.span = number.span;
  op.attributes = std::move(constant);
  return builder_.result(append(op, {}));
}

// What the builder finds wrong is said at the expression, with its line.
OpId Parser::append(Expression& op, std::string_view name) {
  provenance_.name = name;
  provenance_.scope = scope_;
  provenance_.pin = statementPin_;
  provenance_.where.line = op.span.line;
  provenance_.where.column = op.span.column;
  const size_t before = builder_.errors().size();
  const OpId made = builder_.append(std::move(op.attributes), op.operands, provenance_);
  for (size_t i = before; i < builder_.errors().size(); ++i) {
    complaints_.add(op.span, builder_.errors()[i].message, builder_.errors()[i].hint);
  }
  return made;
}

// The single value of an expression; an op gets its made-up name here. Invalid for a number.
ValueId Parser::valueOf(Expression& expression) {
  if (expression.kind != Kind::Op) {
    const bool isValue = expression.kind == Kind::Value || expression.kind == Kind::Made;
    return isValue ? expression.value : ValueId();
  }
  const std::string_view opName = nameOf(kindOf(expression.attributes));
  const OpId op = append(expression, {});
  if (op.valid() && builder_.soFar()[op].resultCount != 1) {
    complaints_.add(expression.span,
                    fmt::format("{} gives {} results here, where one is needed", opName,
                                builder_.soFar()[op].resultCount),
                    "name them in a statement of their own: a, b = …");
    return {};
  }
  return builder_.result(op);
}

std::optional<OpKind> Parser::opNamed(const Token& name) {
  const std::optional<OpKind> kind = opKindNamed(name.text);
  if (kind && classOf(*kind) != OpClass::Source) {
    return kind;
  }
  if (kind) {
    complaints_.add(spanOf(name), fmt::format("{} begins a statement and is no function", shown(name.text)),
                    fmt::format("write it on a line of its own: {} NAME : f32[2, 3]", name.text));
    return std::nullopt;
  }
  const std::vector<std::string> names = callableOps();
  const std::string foreign = hintForForeignOp(name.text, names);
  complaints_.add(spanOf(name), fmt::format("unknown op {}", shown(name.text)),
                  foreign.empty() ? opHint(name.text, names) : foreign);
  return std::nullopt;
}

} // namespace dfc::text
