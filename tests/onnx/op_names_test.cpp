// Which op of ONNX each of ours is. No default: a new op does not compile without its line, and a name that
// no mapping knows fails. Formula ops say it in their headers.
#include "ir/author/onnx/node_call.h"
#include "ir/graph/op.h"
#include "tests/support/catch.h"

namespace dfc::test {
namespace {

// "" for what ONNX does not have, or has only as several nodes.
std::string onnxNameOf(OpKind kind) {
  switch (kind) {
  case OpKind::Constant: return "Constant";
  case OpKind::Matmul: return "MatMul";
  case OpKind::Add: return "Add";
  case OpKind::Sub: return "Sub";
  case OpKind::Mul: return "Mul";
  case OpKind::Div: return "Div";
  case OpKind::Maximum: return "Max";
  case OpKind::Minimum: return "Min";
  case OpKind::Pow: return "Pow";
  case OpKind::And: return "And";
  case OpKind::Or: return "Or";
  case OpKind::Xor: return "Xor";
  case OpKind::Not: return "Not";
  case OpKind::Neg: return "Neg";
  case OpKind::Abs: return "Abs";
  case OpKind::Sign: return "Sign";
  case OpKind::Floor: return "Floor";
  case OpKind::Ceil: return "Ceil";
  case OpKind::Round: return "Round";
  case OpKind::Exp: return "Exp";
  case OpKind::Log: return "Log";
  case OpKind::Sqrt: return "Sqrt";
  case OpKind::Sin: return "Sin";
  case OpKind::Cos: return "Cos";
  case OpKind::Erf: return "Erf";
  case OpKind::Tanh: return "Tanh";
  case OpKind::Relu: return "Relu";
  case OpKind::Clip: return "Clip";
  case OpKind::Compare: return "Equal";
  case OpKind::Select: return "Where";
  case OpKind::Cast: return "Cast";
  case OpKind::ReduceSum: return "ReduceSum";
  case OpKind::ReduceMean: return "ReduceMean";
  case OpKind::ReduceMax: return "ReduceMax";
  case OpKind::ReduceMin: return "ReduceMin";
  case OpKind::ReduceProduct: return "ReduceProd";
  case OpKind::CumSum: return "CumSum";
  case OpKind::ArgMax: return "ArgMax";
  case OpKind::TopK: return "TopK";
  case OpKind::Softmax: return "Softmax";
  case OpKind::LogSoftmax: return "LogSoftmax";
  case OpKind::SoftmaxCrossEntropy: return "SoftmaxCrossEntropyLoss";
  case OpKind::LayerNorm: return "LayerNormalization";
  case OpKind::BatchNorm:
  case OpKind::BatchNormTraining: return "BatchNormalization";
  case OpKind::Dropout: return "Dropout";
  case OpKind::Conv2d: return "Conv";
  case OpKind::Conv2dInputGradient: return "ConvTranspose";
  case OpKind::MaxPool: return "MaxPool";
  case OpKind::AveragePool: return "AveragePool";
  case OpKind::Reshape: return "Reshape";
  case OpKind::Transpose: return "Transpose";
  case OpKind::Broadcast: return "Expand";
  case OpKind::Concat: return "Concat";
  case OpKind::Split: return "Split";
  case OpKind::Slice: return "Slice";
  case OpKind::Pad: return "Pad";
  case OpKind::Tile: return "Tile";
  case OpKind::Gather: return "Gather";
  case OpKind::ScatterAdd: return "ScatterElements";
  case OpKind::OneHot: return "OneHot";
  case OpKind::Iota: return "Range";
  case OpKind::Trilu: return "Trilu";
  case OpKind::Input:
  case OpKind::Parameter:
  case OpKind::Assign:
  case OpKind::Transfer:
  case OpKind::Subview:
  case OpKind::Gradients:
  case OpKind::Custom:
  case OpKind::Fused:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::Cut:
  case OpKind::StopGradient:
  case OpKind::DynamicSlice: // of starts that are known only when a model runs
  case OpKind::DynamicUpdateSlice:
  case OpKind::RandomUniform: // another stream of numbers than a framework's
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::QuantizedMatmul: // DequantizeLinear and MatMul
  case OpKind::RmsNorm:         // newer than the suite
  case OpKind::Attention:
  case OpKind::AttentionGradient:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNormGradient:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePoolGradient:
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return "";
  }
  return "";
}

} // namespace

TEST_CASE("onnx: every op of ours that ONNX has is mapped") {
  for (size_t i = 0; i < opKindCount; ++i) {
    if (const std::string name = onnxNameOf(static_cast<OpKind>(i)); !name.empty()) {
      CAPTURE(name);
      CHECK(onnx::hasOnnxMapping(name));
    }
  }
}

} // namespace dfc::test
