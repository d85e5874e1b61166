// Elementwise ops as nodes: most have one of the same meaning.
#include "ir/author/onnx/export/export_call.h"
#include "ir/graph/formula/formulas.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

/// A node over all operands. The name lives in the type, so that the function needs no state.
template <size_t length>
struct OpName {
  constexpr OpName(const char (&text)[length]) { std::copy(text, text + length, letters); }
  char letters[length];
};

template <OpName op>
Names plain(ExportCall& call) {
  return {call.node(op.letters, call.all())};
}

// `ofTruth` of bools, `ofBits` of integers.
template <OpName ofTruth, OpName ofBits>
Names logic(ExportCall& call) {
  const bool truth = call.type(0).element == ElementType::Bool;
  return {call.node(truth ? ofTruth.letters : ofBits.letters, call.all())};
}

// A zero divisor of integers gives 0, where ONNX leaves it open.
Names quotient(ExportCall& call) {
  if (isFloat(call.type(0).element)) {
    return plain<"Div">(call);
  }
  const std::string zero = call.scalar(call.type(1).element, 0), one = call.scalar(call.type(1).element, 1);
  const std::string none = call.node("Equal", {call.operand(1), zero});
  const std::string safe = call.node("Where", {none, one, call.operand(1)});
  return {call.node("Where", {none, zero, call.node("Div", {call.operand(0), safe})})};
}

Names negated(ExportCall& call) {
  const ElementType element = call.type(0).element;
  return {element == ElementType::U8 ? call.node("Sub", {call.scalar(element, 0), call.operand(0)})
                                     : call.node("Neg", call.all())};
}

Names rectified(ExportCall& call) {
  const ElementType element = call.type(0).element;
  return {isFloat(element) ? call.node("Relu", call.all())
                           : call.node("Max", {call.operand(0), call.scalar(element, 0)})};
}

// Clip takes bounds of no axes alone.
Names clipped(ExportCall& call) {
  if (call.type(1).shape.rank() == 0 && call.type(2).shape.rank() == 0) {
    return plain<"Clip">(call);
  }
  return {call.node("Min", {call.node("Max", {call.operand(0), call.operand(1)}), call.operand(2)})};
}

const char* comparisonName(Direction direction) {
  switch (direction) {
  case Direction::Eq:
  case Direction::Ne: return "Equal";
  case Direction::Lt: return "Less";
  case Direction::Le: return "LessOrEqual";
  case Direction::Gt: return "Greater";
  case Direction::Ge: return "GreaterOrEqual";
  }
  return "";
}

Names compared(ExportCall& call) {
  const Direction direction = call.as<ops::Compare>().direction;
  const bool equality = direction == Direction::Eq || direction == Direction::Ne;
  Names operands = call.all();
  if (call.type(0).element == ElementType::Bool && !equality) { // false is less than true
    operands = {call.cast(operands[0], ElementType::I32), call.cast(operands[1], ElementType::I32)};
  }
  const std::string result = call.node(comparisonName(direction), operands);
  return {direction == Direction::Ne ? call.node("Not", {result}) : result};
}

Names castTo(ExportCall& call) { return {call.cast(call.operand(0), call.as<ops::Cast>().to)}; }

// PRelu's slope broadcasts to the operand, never the other way.
Names leaky(ExportCall& call) {
  return call.resultType().shape == call.type(0).shape ? plain<"PRelu">(call) : exportFormula(call);
}

Names gelued(ExportCall& call) {
  const bool exact = call.as<ops::Gelu>().approximate == Approximation::None;
  return {call.node("Gelu", call.all(), {{"approximate", attributeOf(exact ? "none" : "tanh")}})};
}

Names swished(ExportCall& call) {
  return {call.node("Mul", {call.operand(0), call.node("Sigmoid", call.all())})};
}

Names inverseRoot(ExportCall& call) { return {call.node("Reciprocal", {call.node("Sqrt", call.all())})}; }

} // namespace

OpExport elementwiseExport(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return plain<"Add">;
  case OpKind::Sub: return plain<"Sub">;
  case OpKind::Mul: return plain<"Mul">;
  case OpKind::Div: return quotient;
  case OpKind::Maximum: return plain<"Max">;
  case OpKind::Minimum: return plain<"Min">;
  case OpKind::Pow: return plain<"Pow">;
  case OpKind::And: return logic<"And", "BitwiseAnd">;
  case OpKind::Or: return logic<"Or", "BitwiseOr">;
  case OpKind::Xor: return logic<"Xor", "BitwiseXor">;
  case OpKind::Not: return logic<"Not", "BitwiseNot">;
  case OpKind::Neg: return negated;
  case OpKind::Abs: return plain<"Abs">;
  case OpKind::Sign: return plain<"Sign">;
  case OpKind::Floor: return plain<"Floor">;
  case OpKind::Ceil: return plain<"Ceil">;
  case OpKind::Round: return plain<"Round">;
  case OpKind::Exp: return plain<"Exp">;
  case OpKind::Log: return plain<"Log">;
  case OpKind::Sqrt: return plain<"Sqrt">;
  case OpKind::Sin: return plain<"Sin">;
  case OpKind::Cos: return plain<"Cos">;
  case OpKind::Erf: return plain<"Erf">;
  case OpKind::Tanh: return plain<"Tanh">;
  case OpKind::Relu: return rectified;
  case OpKind::Clip: return clipped;
  case OpKind::Compare: return compared;
  case OpKind::Select: return plain<"Where">;
  case OpKind::Cast: return castTo;
  case OpKind::LeakyRelu: return leaky;
  case OpKind::Gelu: return gelued;
  case OpKind::Silu: return swished;
  case OpKind::Rsqrt: return inverseRoot;
  default: return nullptr; // of another family, or a formula by its body
  }
}

} // namespace dfc::onnx
