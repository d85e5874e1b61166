// Reductions, and what looks along axes, as nodes.
#include "ir/author/dsl.h"
#include "ir/author/onnx/export/export_call.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc::onnx {
namespace {

Names reducedBy(ExportCall& call, const char* op, const Dims& axes, bool keepDims) {
  const ElementType element = call.type(0).element;
  const bool widens = element == ElementType::U8; // sums and products of bytes wrap; ONNX has none of them
  Names operands{widens ? call.cast(call.operand(0), ElementType::I32) : call.operand(0)};
  if (!axes.empty()) {
    operands.push_back(call.list(axes));
  }
  const std::string result = call.node(op, operands, {{"keepdims", attributeOf(int64_t{keepDims})}});
  return {widens ? call.cast(result, element) : result};
}

Names summed(ExportCall& call) {
  const auto& op = call.as<ops::ReduceSum>();
  return reducedBy(call, "ReduceSum", op.axes, op.keepDims);
}

// A part's mean counts the elements of the whole.
Names averaged(ExportCall& call) {
  const auto& op = call.as<ops::ReduceMean>();
  if (op.count == 0) {
    return reducedBy(call, "ReduceMean", op.axes, op.keepDims);
  }
  const std::string sum = reducedBy(call, "ReduceSum", op.axes, op.keepDims)[0];
  return {call.node("Div", {sum, call.scalar(call.type(0).element, static_cast<double>(op.count))})};
}

template <class Op>
Names largestOrSmallest(ExportCall& call, const char* name) {
  const auto& op = call.as<Op>();
  return reducedBy(call, name, op.axes, op.keepDims);
}
Names largest(ExportCall& call) { return largestOrSmallest<ops::ReduceMax>(call, "ReduceMax"); }
Names smallest(ExportCall& call) { return largestOrSmallest<ops::ReduceMin>(call, "ReduceMin"); }

Names multiplied(ExportCall& call) {
  const auto& op = call.as<ops::ReduceProduct>();
  return reducedBy(call, "ReduceProd", op.axes, op.keepDims);
}

Names running(ExportCall& call) {
  const auto& op = call.as<ops::CumSum>();
  const ElementType element = call.type(0).element;
  const bool widens = element == ElementType::U8;
  const std::string a = widens ? call.cast(call.operand(0), ElementType::I32) : call.operand(0);
  const std::string axis = call.constant(Literal::scalar(op.axis));
  const std::string sums = call.node(
      "CumSum", {a, axis},
      {{"exclusive", attributeOf(int64_t{op.exclusive})}, {"reverse", attributeOf(int64_t{op.reverse})}});
  return {widens ? call.cast(sums, element) : sums};
}

Names argument(ExportCall& call) {
  const auto& op = call.as<ops::ArgMax>();
  return {call.node("ArgMax", call.all(),
                    {{"axis", attributeOf(op.axis)}, {"keepdims", attributeOf(int64_t{op.keepDims})}})};
}

Names topped(ExportCall& call) {
  const auto& op = call.as<ops::TopK>();
  return call.nodeOf(2, "TopK", {call.operand(0), call.list({op.k})},
                     {{"axis", attributeOf(op.axis)}, {"largest", attributeOf(int64_t{op.largest})}});
}

Names softened(ExportCall& call) {
  return {call.node("Softmax", call.all(), {{"axis", attributeOf(call.as<ops::Softmax>().axis)}})};
}

Names logSoftened(ExportCall& call) {
  return {call.node("LogSoftmax", call.all(), {{"axis", attributeOf(call.as<ops::LogSoftmax>().axis)}})};
}

// Minus the mean of each row's logarithm at its label.
Names crossEntropy(ExportCall& call) {
  const auto& op = call.as<ops::SoftmaxCrossEntropy>();
  const ElementType element = call.resultType().element;
  std::string logits = call.operand(0);
  logits = element == call.type(0).element ? logits : call.cast(logits, element);
  const std::string logs = call.node("LogSoftmax", {logits}, {{"axis", attributeOf(int64_t{1})}});
  const std::string labels = call.reshaped(call.operand(1), {call.type(1).shape[0], 1});
  const std::string picked = call.node("GatherElements", {logs, labels}, {{"axis", attributeOf(int64_t{1})}});
  const std::string sum = call.node("ReduceSum", {picked}, {{"keepdims", attributeOf(int64_t{0})}});
  const int64_t rows = op.rows == 0 ? call.type(0).shape[0] : op.rows;
  return {call.node("Neg", {call.node("Div", {sum, call.scalar(element, static_cast<double>(rows))})})};
}

} // namespace

OpExport reductionExport(OpKind kind) {
  switch (kind) {
  case OpKind::ReduceSum: return summed;
  case OpKind::ReduceMean: return averaged;
  case OpKind::ReduceMax: return largest;
  case OpKind::ReduceMin: return smallest;
  case OpKind::ReduceProduct: return multiplied;
  case OpKind::CumSum: return running;
  case OpKind::ArgMax: return argument;
  case OpKind::TopK: return topped;
  case OpKind::Softmax: return softened;
  case OpKind::LogSoftmax: return logSoftened;
  case OpKind::SoftmaxCrossEntropy: return crossEntropy;
  default: return nullptr;
  }
}

} // namespace dfc::onnx
