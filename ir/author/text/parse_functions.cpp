// Calls of functions that are no op (functions.h): their operands, their attributes, and what they write.
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::text {
namespace {

using Kind = Expression::Kind;

std::vector<std::string> namesOf(const FunctionRow& row) {
  std::vector<std::string> names;
  for (const FunctionField& field : row.fields) {
    names.emplace_back(field.name);
  }
  return names;
}

std::string fieldHint(const FunctionRow& row, std::string_view word) {
  const std::vector<std::string> names = namesOf(row);
  if (names.empty()) {
    return fmt::format("{} has no attributes", row.name);
  }
  const auto near = word.size() <= 64 ? nearestName(std::string(word), names) : std::nullopt;
  const std::string list = fmt::format("{} has {}", row.name, fmt::join(names, ", "));
  return near ? fmt::format("did you mean {}? {}", shown(*near), list) : list;
}

} // namespace

// An update stands alone: what it gives parameters has no name.
bool Parser::readUpdate(const FunctionRow& row) {
  const Token name = tokens_.take();
  FunctionCall call;
  bool sound = true;
  if (!readFunctionArguments(row, call, sound) || !readPinSuffix() || !atEnd()) {
    return false;
  }
  if (sound && checkFunction(row, call, spanOf(name, tokens_.last()))) {
    writeFunction(row, call, spanOf(name, tokens_.last()));
  }
  return true;
}

bool Parser::readFunction(const FunctionRow& row, const Token& name, Expression& out) {
  FunctionCall call;
  bool sound = true;
  if (!readFunctionArguments(row, call, sound)) {
    return false;
  }
  out.span = spanOf(name, tokens_.last());
  if (row.isUpdate) {
    complaints_.add(out.span, fmt::format("{} gives no value", row.name),
                    fmt::format("write it on a line of its own: {}(loss, rate=0.1)", row.name));
  } else if (sound && checkFunction(row, call, out.span)) {
    const size_t before = builder_.soFar().valueCount();
    out.value = writeFunction(row, call, out.span).value();
    out.kind = !out.value.valid() ? Kind::Poisoned : out.value.index() < before ? Kind::Value : Kind::Made;
  }
  return true;
}

// As `readArguments`. `sound`: nothing was wrong that is said already.
bool Parser::readFunctionArguments(const FunctionRow& row, FunctionCall& call, bool& sound) {
  tokens_.take(); // the parenthesis
  tokens_.skipNewlines();
  if (tokens_.accept(TokenKind::CloseParen)) {
    return true;
  }
  do {
    tokens_.skipNewlines();
    const bool attribute = tokens_.at(TokenKind::Name) && tokens_.ahead().kind == TokenKind::Equals;
    if (!(attribute ? readFunctionAttribute(row, call, sound) : readFunctionOperand(call, sound))) {
      return false;
    }
    tokens_.continueLineAt(TokenKind::CloseParen);
  } while (tokens_.accept(TokenKind::Comma));
  return tokens_.expect(TokenKind::CloseParen, "',' or ')'");
}

bool Parser::readFunctionOperand(FunctionCall& call, bool& sound) {
  Expression operand;
  if (!readExpression(operand)) {
    return false;
  }
  if (operand.kind == Kind::Number) {
    complaints_.add(operand.span, "a number where a value is needed", "name a value of the graph");
  }
  call.operands.emplace_back(&author_, valueOf(operand));
  sound = sound && call.operands.back().valid();
  return true;
}

bool Parser::readFunctionAttribute(const FunctionRow& row, FunctionCall& call, bool& sound) {
  const Token name = tokens_.now();
  const FunctionField* field = row.field(name.text);
  const std::string key(name.text);
  if (field == nullptr || call.attributes.count(key) != 0) {
    sound = false;
    complaints_.add(spanOf(name),
                    field == nullptr ? fmt::format("{} has no attribute {}", row.name, shown(name.text))
                                     : fmt::format("attribute {} is given twice", shown(name.text)),
                    field == nullptr ? fieldHint(row, name.text) : "keep one of them");
    return skipAttribute();
  }
  tokens_.take();
  tokens_.take(); // the '='
  tokens_.skipNewlines();
  if (field->form == AttributeForm::Truth) {
    bool value = false;
    return readTruth(value) && (call.attributes.emplace(key, value), true);
  }
  if (field->form == AttributeForm::WholeNumber) {
    int64_t value = 0;
    return readInteger(value) && (call.attributes.emplace(key, value), true);
  }
  if (field->form == AttributeForm::Text) {
    std::string value;
    return readString(value) && (call.attributes.emplace(key, std::move(value)), true);
  }
  return readFunctionNumber(*field, call, sound);
}

// A number, a value or either.
bool Parser::readFunctionNumber(const FunctionField& field, FunctionCall& call, bool& sound) {
  const std::string key(field.name);
  if (field.form == AttributeForm::Number) {
    double value = 0;
    return readDouble(value) && (call.attributes.emplace(key, Operand(value)), true);
  }
  Expression given;
  if (!readExpression(given)) {
    return false;
  }
  if (given.kind == Kind::Number && field.form == AttributeForm::NumberOrValue) {
    Literal value({ElementType::F64, {}});
    text::readElement(given.number, ElementType::F64, value.mutableBytes().data());
    call.attributes.emplace(key, Operand(value.at(0)));
    return true;
  }
  if (given.kind == Kind::Number) {
    complaints_.add(given.span, fmt::format("{} is a value, not a number", key), "name a value of the graph");
  }
  const Tensor value(&author_, valueOf(given));
  sound = sound && value.valid();
  call.attributes.emplace(key, Operand(value));
  return true;
}

bool Parser::checkFunction(const FunctionRow& row, const FunctionCall& call, const Span& span) {
  std::vector<std::string> missing;
  for (const FunctionField& field : row.fields) {
    if (field.required && call.attributes.count(field.name) == 0) {
      missing.emplace_back(field.name);
    }
  }
  if (!missing.empty()) {
    complaints_.add(span,
                    fmt::format("{} needs the attribute{} {}", row.name, missing.size() == 1 ? "" : "s",
                                fmt::join(missing, ", ")),
                    fmt::format("write {}(…, {}=…)", row.name, fmt::join(missing, "=…, ")));
    return false;
  }
  if (row.isUpdate ? call.operands.size() >= row.operands : call.operands.size() == row.operands) {
    return true;
  }
  complaints_.add(span, fmt::format("{} with {} operands", row.name, call.operands.size()),
                  row.isUpdate ? fmt::format("write {}(loss, rate=0.1), or {}(loss, w1, w2, rate=0.1)",
                                             row.name, row.name)
                               : fmt::format("it takes {}", row.operands));
  return false;
}

// What the function finds wrong is said at the call.
Tensor Parser::writeFunction(const FunctionRow& row, const FunctionCall& call, const Span& span) {
  const size_t before = builder_.errors().size();
  const Builder::Guard place = author_.at({complaints_.fileName(), span.line, span.column});
  const Builder::Guard around = author_.exactly(scope_, statementPin_);
  const Tensor written = row.write(author_, call);
  for (size_t i = before; i < builder_.errors().size(); ++i) {
    complaints_.add(span, builder_.errors()[i].message, builder_.errors()[i].hint);
  }
  return written;
}

} // namespace dfc::text
