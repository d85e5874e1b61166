// Element types of ONNX that dfc holds in wider integers. Their values are right as long as nothing computes
// with them as if they were narrow: ops that move elements carry the type on, arithmetic takes the low bits
// of its results, and ops that quantise know the type.
#include "ir/author/onnx/widened.h"

#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace dfc::onnx {
namespace {

/// Ops whose results hold elements of their first operand, or choose among operands.
bool moves(const std::string& op) {
  static const std::set<std::string> names = {"Concat",    "DepthToSpace",
                                              "Expand",    "Flatten",
                                              "Gather",    "GatherElements",
                                              "GatherND",  "Identity",
                                              "Max",       "MaxPool",
                                              "Min",       "Pad",
                                              "ReduceMax", "ReduceMin",
                                              "Reshape",   "ReverseSequence",
                                              "Slice",     "SpaceToDepth",
                                              "Split",     "Squeeze",
                                              "Tile",      "TopK",
                                              "Transpose", "Trilu",
                                              "Unsqueeze", "Clip",
                                              "Relu",      "If",
                                              "Loop",      "Scan"};
  return names.count(op) != 0;
}

/// Ops that know the types of their operands, or give what does not depend on the width.
bool knows(const std::string& op) {
  static const std::set<std::string> names = {"ArgMax",
                                              "ArgMin",
                                              "BitShift",
                                              "Cast",
                                              "CastLike",
                                              "ConvInteger",
                                              "DequantizeLinear",
                                              "DynamicQuantizeLinear",
                                              "Equal",
                                              "Greater",
                                              "GreaterOrEqual",
                                              "Less",
                                              "LessOrEqual",
                                              "MatMulInteger",
                                              "QLinearConv",
                                              "QLinearMatMul",
                                              "QuantizeLinear",
                                              "Shape",
                                              "Size",
                                              "ConstantOfShape"};
  return names.count(op) != 0;
}

/// Arithmetic on the wider integers whose low bits are those of the narrow type's own.
bool wraps(const std::string& op) {
  static const std::set<std::string> names = {
      "Abs", "Add", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Div", "Mod",
      "Mul", "Neg", "Pow",        "ReduceSum",  "Sign",      "Sub",        "Sum"};
  return names.count(op) != 0;
}

/// Those that keep u64 within what an i64 holds where their operands are within it; of the others a result
/// may be beyond.
bool keepsWithin(const std::string& op) {
  static const std::set<std::string> names = {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Mod"};
  return names.count(op) != 0;
}

/// The type that the results of a node have of its operands; 0 for none.
int64_t widenedOperand(OnnxScope& scope, const OnnxNode& node) {
  const size_t looked = node.op == "Pow" ? 1 : node.inputs.size(); // the base alone decides
  for (size_t i = 0; i < std::min(looked, node.inputs.size()); ++i) {
    if (!node.inputs[i].empty()) {
      const auto& widened = scope.state().widened;
      const auto found = widened.find(scope.tensor(node.inputs[i]).value());
      if (found != widened.end()) {
        return found->second;
      }
    }
  }
  return 0;
}

} // namespace

Tensor narrowed(Tensor whole, int64_t element) {
  const auto low = [&](int bits, bool isSigned) {
    const auto size = static_cast<double>(int64_t{1} << bits), half = size / 2;
    return isSigned ? ((whole + half) & (size - 1)) - half : whole & (size - 1);
  };
  switch (element) {
  case element::i4: return low(4, true);
  case element::u4: return low(4, false);
  case element::i8: return low(8, true);
  case element::u8: return low(8, false);
  case element::i16: return low(16, true);
  case element::u16: return low(16, false);
  case element::u32: return low(32, false);
  default: return whole;
  }
}

void passWidenedOn(OnnxScope& scope, const OnnxNode& node, std::vector<Tensor>& results) {
  ImportState& state = scope.state();
  if (state.widened.empty() || knows(node.op)) {
    return;
  }
  const int64_t element = widenedOperand(scope, node);
  if (element == 0) {
    return;
  }
  const bool computes = element == element::u64 ? keepsWithin(node.op) : wraps(node.op);
  if (!computes && !moves(node.op) && node.op != "Where") {
    throw Unsupported(fmt::format("{} of {}", node.op, elementName(element)));
  }
  for (Tensor& result : results) {
    if (result.valid() && result.type().element == elementOfOnnx(element)) {
      result = computes ? narrowed(result, element) : result;
      state.widened[result.value()] = element;
    }
  }
}

} // namespace dfc::onnx
