#include "tests/compiler/split/larger_samples.h"

#include "ir/base/assert.h"
#include "tests/support/random_values.h"
#include "tests/support/typed_body.h"

namespace dfc::test {
namespace {

// The call of op_samples with all operands of one shape, and with the first of it and the others broadcast.
std::vector<OpSample> elementwiseSamples(OpKind kind, ElementType element) {
  std::vector<OpSample> samples(3, sampleOf(kind, element));
  const std::array<Shape, 3> first = {Shape{6, 7}, Shape{6, 7}, Shape{5, 1, 7}};
  const std::array<Shape, 3> others = {Shape{6, 7}, Shape{6, 1}, Shape{6, 7}};
  for (size_t s = 0; s < samples.size(); ++s) {
    for (size_t i = 0; i < samples[s].operands.size(); ++i) {
      samples[s].operands[i].shape = i == 0 ? first[s] : others[s];
    }
  }
  return samples;
}

template <class Op>
std::vector<OpSample> reductions(ElementType element) {
  const TensorType operand{element, {2, 8, 6}};
  return {sampleWith<Op>({operand}, [](Op& op) { op.axes = {1}; }),
          sampleWith<Op>({{element, {4, 5, 2}}},
                         [](Op& op) {
                           op.axes = {-1, 0};
                           op.keepDims = true;
                         }),
          sampleWith<Op>({{element, {8}}}, [](Op&) {})};
}

template <class Op>
std::vector<OpSample> alongEachAxis(ElementType element) {
  std::vector<OpSample> samples;
  for (const int64_t axis : {0, 1, -1}) {
    samples.push_back(sampleWith<Op>({{element, {5, 6, 7}}}, [&](Op& op) { op.axis = axis; }));
  }
  return samples;
}

std::vector<OpSample> products(ElementType element) {
  std::vector<OpSample> samples;
  for (int form = 0; form < 4; ++form) {
    const bool ta = form % 2 == 1, tb = form / 2 == 1;
    samples.push_back(sampleWith<ops::Matmul>(
        {{element, ta ? Shape{6, 5} : Shape{5, 6}}, {element, tb ? Shape{4, 6} : Shape{6, 4}}},
        [&](ops::Matmul& op) {
          op.transposeA = ta;
          op.transposeB = tb;
        }));
  }
  samples.push_back({ops::Matmul{}, {{element, {5, 1, 4, 4}}, {element, {3, 4, 4}}}});
  return samples;
}

std::vector<OpSample> fusedChains(ElementType element) {
  std::vector<OpSample> samples;
  using Reduction = ops::Fused::Reduction;
  for (const Reduction reduction : {Reduction::None, Reduction::Sum, Reduction::Mean, Reduction::Max}) {
    auto op = withBody<ops::Fused>("add:T %0 %1; mul:T %2 %1", element);
    op.reduction = reduction;
    op.axes = reduction == Reduction::None ? Dims{} : Dims{1};
    op.keepDims = reduction == Reduction::Mean;
    samples.push_back({op, {{element, {5, 8, 3}}, {element, {8, 1}}}});
  }
  return samples;
}

std::vector<OpSample> fusedProductSamples(ElementType element) {
  const auto op = withBody<ops::FusedMatmul>("add:T %0 %1; max:T %3 %2", element);
  return {{op, {{element, {2, 5, 4}}, {element, {4, 6}}, {element, {6}}, {element, {5, 1}}}}};
}

template <class Op>
std::vector<OpSample> norms(ElementType element, bool gradient) {
  std::vector<OpSample> samples;
  for (const int64_t axis : {-1, 1}) {
    const Shape row = axis == -1 ? Shape{3} : Shape{6, 3};
    std::vector<TensorType> operands = {{element, {5, 6, 3}}, {element, row}};
    if (gradient) {
      operands.push_back(operands[0]);
    }
    samples.push_back(sampleWith<Op>(operands, [&](Op& op) { op.axis = axis; }));
  }
  return samples;
}

std::vector<OpSample> batchNorms(OpKind kind, ElementType element) {
  const TensorType image{element, {3, 5, 2, 3}}, vector{element, {5}};
  switch (kind) {
  case OpKind::BatchNormPass:
    return {sampleWith<ops::BatchNormPass>({image, vector, vector, {ElementType::F64, {2, 5}}, image},
                                           [](auto& op) { op.relu = true, op.count = 18; })};
  case OpKind::BatchNormGradientPass:
    return {sampleWith<ops::BatchNormGradientPass>(
        {image, vector, vector, vector, image, {ElementType::F64, {2, 5}}, image},
        [](auto& op) { op.relu = op.addend = true, op.count = 18; })};
  case OpKind::BatchNormSums:
    return {{ops::BatchNormSums{}, {image}},
            {ops::BatchNormSums{}, {image, vector, image}},
            sampleWith<ops::BatchNormSums>({image, vector, image, image}, [](auto& op) { op.relu = true; })};
  case OpKind::BatchNorm: return {{ops::BatchNorm{}, {image, vector, vector, vector, vector}}};
  case OpKind::BatchNormTraining:
    return {
        sampleWith<ops::BatchNormTraining>({image, vector, vector, image}, [](auto& op) { op.relu = true; })};
  default:
    return {sampleWith<ops::BatchNormGradient>({image, vector, vector, vector, image, image},
                                               [](auto& op) { op.relu = op.addend = true; })};
  }
}

std::vector<OpSample> parameters(ElementType element) {
  using Kind = ops::Parameter::Initialiser;
  std::vector<OpSample> samples;
  for (const Kind kind : {Kind::Zeros, Kind::Constant, Kind::Uniform, Kind::Normal, Kind::Glorot,
                          Kind::HeNormal, Kind::HeUniform}) {
    samples.push_back(sampleWith<ops::Parameter>({}, [&](ops::Parameter& op) {
      op.type = {element, {5, 7, 3}};
      op.initialiser = kind;
      op.a = 1;
      op.b = 2;
      op.seed = 5;
    }));
  }
  return samples;
}

std::vector<OpSample> crossEntropies(OpKind kind, ElementType element) {
  std::vector<TensorType> operands = {{element, {7, 4}}, i64({7})};
  std::vector<OpSample> samples;
  if (kind == OpKind::SoftmaxCrossEntropy) {
    samples.push_back(sampleWith<ops::SoftmaxCrossEntropy>(operands, [](auto&) {}));
  } else {
    operands.push_back({element, {}});
    samples.push_back(sampleWith<ops::SoftmaxCrossEntropyGradient>(operands, [](auto&) {}));
  }
  return samples;
}

// Parts of parts: their attributes are there already.
std::vector<OpSample> dropouts(ElementType element) {
  std::vector<OpSample> samples;
  for (const Shape& shape : {Shape{8, 8}, Shape{5, 7, 3}, Shape{21}}) {
    samples.push_back(sampleWith<ops::Dropout>({{element, shape}, i64({})}, [](auto& op) { op.seed = 3; }));
  }
  samples.push_back(sampleWith<ops::Dropout>({{element, {5, 3}}, i64({})}, [](auto& op) {
    op.part.starts = {2, 4};
    op.part.whole = {9, 8};
  }));
  return samples;
}

} // namespace

std::vector<OpSample> largerSamples(OpKind kind, ElementType element) {
  const TensorType matrix{element, {6, 7}};
  switch (kind) {
  case OpKind::Input: return {sampleWith<ops::Input>({}, [&](auto& op) { op.type = matrix; })};
  case OpKind::Parameter: return parameters(element);
  case OpKind::Constant:
    return {sampleWith<ops::Constant>({}, [&](auto& op) {
      Dice dice(1);
      op.value = randomLiteral(matrix, dice);
    })};
  case OpKind::Assign: return {{ops::Assign{}, {matrix, matrix}}};
  case OpKind::Transfer: return {{ops::Transfer{}, {matrix}}};
  case OpKind::Custom: // never cut
  case OpKind::Subview:
  case OpKind::Gradients: return {};
  case OpKind::Matmul: return products(element);
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return elementwiseSamples(kind, element);
  case OpKind::Fused: return fusedChains(element);
  case OpKind::FusedMatmul: return fusedProductSamples(element);
  case OpKind::ReduceSum: return reductions<ops::ReduceSum>(element);
  case OpKind::ReduceMean: return reductions<ops::ReduceMean>(element);
  case OpKind::ReduceMax: return reductions<ops::ReduceMax>(element);
  case OpKind::ReduceMin: return reductions<ops::ReduceMin>(element);
  case OpKind::ReduceProduct: return reductions<ops::ReduceProduct>(element);
  case OpKind::CumSum: {
    auto samples = alongEachAxis<ops::CumSum>(element);
    samples[0].attributes.as<ops::CumSum>().exclusive = true;
    samples[1].attributes.as<ops::CumSum>().reverse = true;
    return samples;
  }
  case OpKind::ArgMax: {
    auto samples = alongEachAxis<ops::ArgMax>(element);
    samples[0].attributes.as<ops::ArgMax>().keepDims = true;
    return samples;
  }
  case OpKind::TopK: {
    auto samples = alongEachAxis<ops::TopK>(element);
    for (OpSample& sample : samples) {
      sample.attributes.as<ops::TopK>().k = 2;
    }
    return samples;
  }
  case OpKind::Softmax: return alongEachAxis<ops::Softmax>(element);
  case OpKind::LogSoftmax: return alongEachAxis<ops::LogSoftmax>(element);
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: return crossEntropies(kind, element);
  case OpKind::LayerNorm: return norms<ops::LayerNorm>(element, false);
  case OpKind::QuantizedMatmul: {
    const auto of = [&](Shape shape) { return TensorType{element, shape}; };
    return {{ops::QuantizedMatmul{}, {of({7, 12}), {ElementType::U8, {9, 12}}, of({9, 6})}},
            sampleWith<ops::QuantizedMatmul>({of({2, 6, 24}), {ElementType::U8, {7, 12}}, of({7, 1})},
                                             [](auto& op) { op.bits = 4; })};
  }
  case OpKind::RmsNorm: return norms<ops::RmsNorm>(element, false);
  case OpKind::LayerNormGradient: return norms<ops::LayerNormGradient>(element, true);
  case OpKind::RmsNormGradient: return norms<ops::RmsNormGradient>(element, true);
  case OpKind::BatchNorm:
  case OpKind::BatchNormTraining:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::BatchNormGradient: return batchNorms(kind, element);
  case OpKind::Dropout: return dropouts(element);
  case OpKind::RandomUniform:
    return {sampleWith<ops::RandomUniform>({i64({})}, [&](auto& op) {
      op.type = {element == ElementType::F64 ? ElementType::F64 : ElementType::F32, {6, 7}};
      op.seed = 3;
    })};
  case OpKind::Attention:
  case OpKind::AttentionGradient: return largerAttentionSamples(kind, element);
  case OpKind::Conv2d:
  case OpKind::FusedConv2d:
  case OpKind::Conv2dInputGradient:
  case OpKind::Conv2dFilterGradient:
  case OpKind::MaxPool:
  case OpKind::MaxPoolGradient:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient: return largerWindowSamples(kind, element);
  case OpKind::Reshape:
  case OpKind::StopGradient:
  case OpKind::Cut:
  case OpKind::Transpose:
  case OpKind::Broadcast:
  case OpKind::Concat:
  case OpKind::Split:
  case OpKind::Slice:
  case OpKind::Pad:
  case OpKind::Tile:
  case OpKind::Gather:
  case OpKind::ScatterAdd:
  case OpKind::DynamicSlice:
  case OpKind::DynamicUpdateSlice:
  case OpKind::OneHot:
  case OpKind::Iota:
  case OpKind::Trilu: return largerMovementSamples(kind, element);
  }
  DFC_UNREACHABLE("op kind");
}

} // namespace dfc::test
