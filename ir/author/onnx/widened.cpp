// Element types of ONNX that dfc holds in wider integers. Their values are right as long as nothing computes
// with them as if they were narrow: ops that move elements carry the type on, those that quantise know it.
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>

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

} // namespace

void passWidenedOn(OnnxScope& scope, const OnnxNode& node, const std::vector<Tensor>& results) {
  ImportState& state = scope.state();
  if (state.widened.empty() || knows(node.op)) {
    return;
  }
  const bool choice = node.op == "Where";
  int64_t element = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i].empty()) {
      continue;
    }
    const auto found = state.widened.find(scope.tensor(node.inputs[i]).value());
    if (found != state.widened.end() && !moves(node.op) && !choice) {
      throw Unsupported(fmt::format("{} of {}", node.op, elementName(found->second)));
    }
    if (found != state.widened.end() && element == 0) {
      element = found->second;
    }
  }
  for (const Tensor result : results) {
    if (element != 0 && result.valid() && result.type().element == elementOfOnnx(element)) {
      state.widened[result.value()] = element;
    }
  }
}

} // namespace dfc::onnx
