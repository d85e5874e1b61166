// The C++ DSL: each op has a function of its name.
#include "ir/author/composites.h"
#include "ir/author/custom.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <optional>

using namespace dfc;

namespace {

// A formula's function, called with as many tensors as it takes.
template <size_t operands, class Function>
Tensor called(Function function, Tensor a, Tensor b) {
  if constexpr (operands == 1) {
    return function(a);
  } else if constexpr (operands == 2) {
    return function(a, b);
  } else {
    return function(a, b, a);
  }
}

// A call of each op's function on a [2, 3] of floats, its like, and two i32. No default: an op without its
// function here does not compile. No tensor: an op that no function makes.
std::optional<Tensor> madeByItsFunction(OpKind kind, Builder& g, Tensor a, Tensor b, Tensor labels) {
  const Tensor row = g.parameter("row", f32({3})), image = g.parameter("image", f32({1, 1, 4, 4}));
  const Tensor filter = g.parameter("filter", f32({1, 1, 2, 2}));
  const Tensor bytes = g.parameter("bytes", {ElementType::U8, {4, 3}}),
               scales = g.parameter("scales", f32({4, 1}));
  switch (kind) {
  case OpKind::Add: return a + b;
  case OpKind::Sub: return a - b;
  case OpKind::Mul: return a * b;
  case OpKind::Div: return a / b;
  case OpKind::Neg: return -a;
  case OpKind::Maximum: return max(a, b);
  case OpKind::Minimum: return min(a, b);
  case OpKind::Exp: return exp(a);
  case OpKind::Log: return log(a);
  case OpKind::Sqrt: return sqrt(a);
  case OpKind::Tanh: return tanh(a);
  case OpKind::Relu: return relu(a);
  case OpKind::Pow: return pow(a, 2);
  case OpKind::And: return labels & 1;
  case OpKind::Or: return labels | labels;
  case OpKind::Xor: return labels ^ 7;
  case OpKind::Not: return ~labels;
  case OpKind::Abs: return abs(a);
  case OpKind::Sign: return sign(a);
  case OpKind::Floor: return floor(a);
  case OpKind::Ceil: return ceil(a);
  case OpKind::Round: return round(a);
  case OpKind::Sin: return sin(a);
  case OpKind::Cos: return cos(a);
  case OpKind::Erf: return erf(a);
  case OpKind::Clip: return clip(a, 0, 6);
  case OpKind::Cast: return cast(a, ElementType::I32);
  case OpKind::Compare: return compare(a, b, Direction::Ge);
  case OpKind::Select: return select(compare(a, b, Direction::Lt), a, b);
  case OpKind::Matmul: return matmul(a, b, {.b = true});
  case OpKind::ReduceSum: return reduceSum(a, {0});
  case OpKind::ReduceMean: return reduceMean(a, {0});
  case OpKind::ReduceMax: return reduceMax(a, {0}, true);
  case OpKind::ReduceMin: return reduceMin(a, {0});
  case OpKind::ReduceProduct: return reduceProduct(a, {0});
  case OpKind::CumSum: return cumSum(a, 1);
  case OpKind::ArgMax: return argMax(a);
  case OpKind::TopK: return topK(a, 2).indices;
  case OpKind::Softmax: return softmax(a);
  case OpKind::LogSoftmax: return logSoftmax(a);
  case OpKind::SoftmaxCrossEntropy: return softmaxCrossEntropy(a, labels);
  case OpKind::LayerNorm: return layerNorm(a, row, row);
  case OpKind::RmsNorm: return rmsNorm(a, row);
  case OpKind::QuantizedMatmul: return quantizedMatmul(a, bytes, scales);
  case OpKind::BatchNorm: return batchNorm(a, row, row, row, row);
  case OpKind::BatchNormTraining: return batchNormTraining(a, row, row).result;
  case OpKind::Dropout: return dropout(a, g.scalar(ElementType::I64, 0));
  case OpKind::Conv2d: return conv2d(image, filter);
  case OpKind::MaxPool: return maxPool(image, {2, 2});
  case OpKind::AveragePool: return averagePool(image, {2, 2});
  case OpKind::Reshape: return reshape(a, {6});
  case OpKind::Custom:
    return custom({a, b}, {.function = "f", .results = {f32({2}), f32({3})}, .cpuSeconds = 1e-3})[1];
  case OpKind::StopGradient: return stopGradient(a);
  case OpKind::Cut: return cut(a, 0, "gpu*");
  case OpKind::Transpose: return transpose(a);
  case OpKind::Broadcast: return broadcast(a, {4, 2, 3});
  case OpKind::Concat: return concat({a, b}, 1);
  case OpKind::Split: return split(a, {1, 2}, 1)[1];
  case OpKind::Slice: return slice(a, {0, 0}, {1, 1});
  case OpKind::Pad: return pad(a, {0, 0}, {1, 1});
  case OpKind::Tile: return tile(a, {2, 1});
  case OpKind::Gather: return gather(a, labels);
  case OpKind::ScatterAdd: return scatterAdd(a, labels, b);
  case OpKind::DynamicSlice: return dynamicSlice(a, g.scalar(ElementType::I64, 1), {1}, {0});
  case OpKind::DynamicUpdateSlice: return dynamicUpdateSlice(a, b, g.scalar(ElementType::I64, 1), {0});
  case OpKind::RandomUniform: return randomUniform(g.scalar(ElementType::I64, 0), f32({2}));
  case OpKind::OneHot: return oneHot(labels, 3);
  case OpKind::Iota: return iota(g, f32({3}));
  case OpKind::Trilu: return trilu(a);
  case OpKind::Attention: return attention(a, a, a);
  case OpKind::Parameter: return row;
  case OpKind::Input: return a;
  case OpKind::Constant: return g.scalar(ElementType::F32, 2);
  case OpKind::Assign: // members of Builder, and what passes and gradient rules make
  case OpKind::Gradients:
  case OpKind::Transfer:
  case OpKind::Subview:
  case OpKind::Fused:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::AttentionGradient:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNormGradient:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePoolGradient: return std::nullopt;
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name)                                                                           \
  case OpKind::Type:                                                                                         \
    return called<ops::Type::arity.most>([](auto... in) { return name(in...); }, a, b);
#include "ir/graph/ops.def"
#undef DFC_OP
  }
  return std::nullopt;
}

} // namespace

TEST_CASE("dsl: every function makes its op") {
  for (size_t i = 0; i < opKindCount; ++i) {
    Builder g;
    const Tensor a = g.input("a", f32({2, 3})), b = g.input("b", f32({2, 3})),
                 labels = g.input("l", i32({2}));
    const auto kind = static_cast<OpKind>(i);
    INFO(nameOf(kind));
    if (const std::optional<Tensor> made = madeByItsFunction(kind, g, a, b, labels)) {
      REQUIRE(made->valid());
      CHECK(g.graph().soFar()[g.graph().soFar()[made->value()].producer].kind() == kind);
    }
  }
}
