#include "tests/support/op_samples.h"

#include "ir/base/assert.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/graph.h"
#include "ir/graph/rules/type_list.h"

namespace dfc::test {
namespace {

template <class Op, class Fill>
OpSample with(std::vector<TensorType> operands, Fill fill) {
  Op op;
  fill(op);
  return {std::move(op), std::move(operands)};
}

ops::FusedBody sumThenRelu(ElementType element) {
  ops::FusedBody body;
  body.instructions = {{OpKind::Add, 0, element, {0, 1}}, {OpKind::Relu, 0, element, {2}}};
  return body;
}

// Image [.., 4, 3] under a filter of [2, 2]: (4 + 1 - 2) / 2 + 1 = 2 rows, (3 + 1 - 3) / 1 + 1 = 2 columns.
constexpr auto groupedWindows = [](auto& op) {
  op.strides = {2, 1};
  op.low = {1, 0};
  op.high = {0, 1};
  op.dilations = {1, 2};
  op.groups = 2;
};

// Image [.., 4, 5]: (4 + 1 - 2) / 1 + 1 = 4 rows (3 with a dilation of 2), (5 + 1 - 3) / 2 + 1 = 2 columns.
template <class Op>
void poolWindows(Op& op) {
  op.window = {2, 3};
  op.strides = {1, 2};
  op.low = {1, 0};
  op.high = {0, 1};
}

// The last variant, and operands that broadcast.
OpSample ofFormula(OpKind kind, std::vector<TensorType> operands) {
  const FormulaFacts& formula = *formulaOf(kind);
  OpSample sample{defaultAttributes(kind), std::move(operands)};
  setFormulaVariant(sample.attributes, static_cast<uint8_t>(formula.bodies.size() - 1));
  sample.operands.resize(formula.operands);
  return sample;
}

} // namespace

bool hasNoGradient(OpKind kind) {
  switch (kind) {
  case OpKind::Fused:
  case OpKind::FusedMatmul:
  case OpKind::FusedConv2d:
  case OpKind::Transfer:
  case OpKind::Subview:
  case OpKind::Custom:
  case OpKind::BatchNormSums:
  case OpKind::BatchNormPass:
  case OpKind::BatchNormGradientPass:
  case OpKind::SoftmaxCrossEntropyGradient: return true;
  default: return false;
  }
}

OpSample sampleOf(OpKind kind, ElementType element) {
  const auto of = [&](Shape shape) { return TensorType{element, shape}; };
  const auto bits = [&](Shape shape) {
    return TensorType{isFloat(element) ? ElementType::I32 : element, shape};
  };
  const TensorType matrix = of({2, 3}), row = of({3}), column = of({2, 1}), scalar = of({});
  switch (kind) {
  case OpKind::Input: return with<ops::Input>({}, [&](auto& op) { op.type = matrix; });
  case OpKind::Parameter: return with<ops::Parameter>({}, [&](auto& op) { op.type = matrix; });
  case OpKind::Constant:
    return with<ops::Constant>({}, [&](auto& op) { op.value = filledLiteral(matrix, 1.5); });
  case OpKind::Assign: return {ops::Assign{}, {matrix, matrix}};
  case OpKind::Transfer: return {ops::Transfer{}, {matrix}};
  case OpKind::Gradients: return {ops::Gradients{}, {scalar, matrix, row}};
  case OpKind::Custom:
    return with<ops::Custom>({matrix, row}, [&](auto& op) {
      op.function = "row sums";
      op.resultTypes = typeListText({of({2}), matrix});
      op.cpuSeconds = 1e-5;
      op.gpuSeconds = 2e-6;
      op.source = "extern \"C\" __global__ void rowSums(const void*, const void*, void*, void*) {}\n";
      op.entry = "rowSums";
      op.grid = {2};
      op.block = {3, 2};
      op.sharedBytes = 64;
    });
  case OpKind::Matmul:
    return with<ops::Matmul>({of({5, 1, 2, 3}), of({4, 7, 3})}, [](auto& op) { op.transposeB = true; });
  case OpKind::Add: return {ops::Add{}, {matrix, row}};
  case OpKind::Sub: return {ops::Sub{}, {column, matrix}};
  case OpKind::Mul: return {ops::Mul{}, {matrix, scalar}};
  case OpKind::Div: return {ops::Div{}, {column, row}};
  case OpKind::Maximum: return {ops::Maximum{}, {matrix, row}};
  case OpKind::Minimum: return {ops::Minimum{}, {matrix, column}};
  case OpKind::Neg: return {ops::Neg{}, {matrix}};
  case OpKind::Exp: return {ops::Exp{}, {matrix}};
  case OpKind::Log: return {ops::Log{}, {matrix}};
  case OpKind::Sqrt: return {ops::Sqrt{}, {matrix}};
  case OpKind::Tanh: return {ops::Tanh{}, {matrix}};
  case OpKind::Relu: return {ops::Relu{}, {matrix}};
  case OpKind::Compare:
    return with<ops::Compare>({matrix, row}, [](auto& op) { op.direction = ops::Compare::Direction::Lt; });
  case OpKind::Select: return {ops::Select{}, {{ElementType::Bool, {2, 1}}, row, scalar}};
  case OpKind::Cast: return with<ops::Cast>({matrix}, [](auto& op) { op.to = ElementType::F64; });
  case OpKind::Fused:
    return with<ops::Fused>({matrix, row}, [&](auto& op) {
      op.body = sumThenRelu(element);
      op.reduction = ops::Fused::Reduction::Sum;
      op.axes = {1};
    });
  case OpKind::FusedMatmul:
    return with<ops::FusedMatmul>({of({3, 2}), of({3, 4}), of({4}), of({2, 4})}, [&](auto& op) {
      op.transposeA = true;
      op.precision = ops::Precision::Tf32;
      op.body.instructions = {{OpKind::Add, 0, element, {0, 1}},
                              {OpKind::Relu, 0, element, {3}},
                              {OpKind::Sub, 0, element, {2, 4}}};
    });
  case OpKind::FusedConv2d:
    return with<ops::FusedConv2d>({of({2, 4, 5, 3}), of({4, 3, 2, 2}), of({4}), of({2, 2, 6, 4})},
                                  [&](auto& op) {
                                    op.low = {0, 1};
                                    op.high = {1, 1};
                                    op.strides = {2, 1};
                                    op.layout = ImageLayout::NhwcOihw;
                                    op.body.instructions = {{OpKind::Add, 0, element, {0, 1}},
                                                            {OpKind::Relu, 0, element, {3}},
                                                            {OpKind::Sub, 0, element, {2, 4}}};
                                  });
  case OpKind::Pow: return {ops::Pow{}, {matrix, row}};
  case OpKind::And: return {ops::And{}, {bits({2, 3}), bits({3})}};
  case OpKind::Or: return {ops::Or{}, {bits({2, 1}), bits({2, 3})}};
  case OpKind::Xor: return {ops::Xor{}, {bits({2, 3}), bits({})}};
  case OpKind::Not: return {ops::Not{}, {bits({2, 3})}};
  case OpKind::Abs: return {ops::Abs{}, {matrix}};
  case OpKind::Sign: return {ops::Sign{}, {matrix}};
  case OpKind::Floor: return {ops::Floor{}, {matrix}};
  case OpKind::Ceil: return {ops::Ceil{}, {matrix}};
  case OpKind::Round: return {ops::Round{}, {matrix}};
  case OpKind::Sin: return {ops::Sin{}, {matrix}};
  case OpKind::Cos: return {ops::Cos{}, {matrix}};
  case OpKind::Erf: return {ops::Erf{}, {matrix}};
  case OpKind::Clip: return {ops::Clip{}, {matrix, row, scalar}};
  case OpKind::ReduceMin: return with<ops::ReduceMin>({of({2, 3, 4})}, [](auto& op) { op.axes = {0, 2}; });
  case OpKind::ReduceProduct:
    return with<ops::ReduceProduct>({of({2, 3, 4})}, [](auto& op) {
      op.axes = {-2};
      op.keepDims = true;
    });
  case OpKind::CumSum:
    return with<ops::CumSum>({of({2, 3, 2})}, [](auto& op) {
      op.axis = 1;
      op.exclusive = op.reverse = true;
    });
  case OpKind::Attention: // two heads of q share one of k and v
    return with<ops::Attention>(
        {of({2, 2, 3, 4}), of({2, 1, 5, 4}), of({2, 1, 5, 2}), {ElementType::Bool, {2, 1, 3, 5}}},
        [](auto& op) { op.causal = true; });
  case OpKind::AttentionGradient: {
    const TensorType rows{element == ElementType::F64 ? ElementType::F64 : ElementType::F32, {2, 3}};
    return with<ops::AttentionGradient>(
        {of({2, 3, 4}), of({2, 5, 4}), of({2, 5, 2}), of({2, 3, 2}), rows, rows},
        [](auto& op) { op.forward.scale = 0.5; });
  }
  case OpKind::TopK: return with<ops::TopK>({of({2, 5})}, [](auto& op) { op.k = 3; });
  case OpKind::Split:
    return with<ops::Split>({of({2, 6})}, [](auto& op) {
      op.sizes = {1, 2, 3};
      op.axis = -1;
    });
  case OpKind::Tile: return with<ops::Tile>({matrix}, [](auto& op) { op.repeats = {3, 2}; });
  case OpKind::Gather: return with<ops::Gather>({of({2, 4, 3}), i64({2, 2})}, [](auto& op) { op.axis = 1; });
  case OpKind::ScatterAdd: return {ops::ScatterAdd{}, {of({4, 3}), i32({5}), of({5, 3})}};
  case OpKind::DynamicSlice:
    return with<ops::DynamicSlice>({of({4, 5, 3}), i32({2})}, [](auto& op) {
      op.sizes = {2, 3};
      op.axes = {-2, 0};
    });
  case OpKind::DynamicUpdateSlice:
    return with<ops::DynamicUpdateSlice>({of({2, 5, 3}), of({2, 2, 3}), i64({})},
                                         [](auto& op) { op.axes = {1}; });
  case OpKind::OneHot:
    return with<ops::OneHot>({i32({2, 3})}, [&](auto& op) {
      op.depth = 4;
      op.axis = 1;
      op.to = element;
    });
  case OpKind::Iota: return with<ops::Iota>({}, [&](auto& op) { op.type = matrix; });
  case OpKind::Trilu:
    return with<ops::Trilu>({of({2, 3, 4})}, [](auto& op) {
      op.k = -1;
      op.upper = false;
    });
  case OpKind::LayerNorm:
    return with<ops::LayerNorm>({of({2, 3, 4}), of({3, 4}), of({3, 4})}, [](auto& op) { op.axis = 1; });
  case OpKind::QuantizedMatmul:
    return with<ops::QuantizedMatmul>({of({2, 3, 8}), {ElementType::U8, {5, 4}}, of({5, 2})},
                                      [](auto& op) { op.bits = 4; });
  case OpKind::RmsNorm: return with<ops::RmsNorm>({matrix, row}, [](auto& op) { op.epsilon = 1e-3; });
  case OpKind::LayerNormGradient:
    return with<ops::LayerNormGradient>({of({2, 3, 4}), of({3, 4}), of({2, 3, 4})},
                                        [](auto& op) { op.axis = 1; });
  case OpKind::RmsNormGradient:
    return with<ops::RmsNormGradient>({matrix, row, matrix}, [](auto& op) { op.epsilon = 1e-3; });
  case OpKind::Dropout:
    return with<ops::Dropout>({matrix, i64({})}, [](auto& op) {
      op.rate = 0.25;
      op.seed = 7;
    });
  case OpKind::RandomUniform:
    return with<ops::RandomUniform>({i64({})}, [&](auto& op) {
      op.type = {element == ElementType::F64 ? ElementType::F64 : ElementType::F32, {2, 3}};
      op.seed = 7;
    });
  case OpKind::BatchNorm: return {ops::BatchNorm{}, {of({2, 3, 2}), row, row, row, row}};
  case OpKind::BatchNormTraining: return {ops::BatchNormTraining{}, {of({2, 3, 2}), row, row}};
  case OpKind::BatchNormPass:
    return {ops::BatchNormPass{}, {of({2, 3, 2}), row, row, {ElementType::F64, {2, 3}}}};
  case OpKind::BatchNormGradientPass:
    return {ops::BatchNormGradientPass{},
            {of({2, 3, 2}), row, row, row, of({2, 3, 2}), {ElementType::F64, {2, 3}}}};
  case OpKind::BatchNormSums: return {ops::BatchNormSums{}, {of({2, 3, 2}), row, of({2, 3, 2})}};
  case OpKind::BatchNormGradient:
    return {ops::BatchNormGradient{}, {of({2, 3, 2}), row, row, row, of({2, 3, 2})}};
  case OpKind::Conv2d: return with<ops::Conv2d>({of({2, 2, 4, 3}), of({4, 1, 2, 2})}, groupedWindows);
  case OpKind::Conv2dInputGradient:
    return with<ops::Conv2dInputGradient>({of({4, 1, 2, 2}), of({2, 4, 2, 2})}, [](auto& op) {
      op.shape = {2, 2, 4, 3};
      groupedWindows(op);
    });
  case OpKind::Conv2dFilterGradient:
    return with<ops::Conv2dFilterGradient>({of({2, 2, 4, 3}), of({2, 4, 2, 2})}, [](auto& op) {
      op.shape = {4, 1, 2, 2};
      groupedWindows(op);
    });
  case OpKind::MaxPool:
    return with<ops::MaxPool>({of({2, 1, 4, 5})}, [](auto& op) {
      poolWindows(op);
      op.dilations = {2, 1};
    });
  case OpKind::MaxPoolGradient:
    return with<ops::MaxPoolGradient>({of({2, 1, 4, 5}), of({2, 1, 3, 2})}, [](auto& op) {
      poolWindows(op);
      op.dilations = {2, 1};
    });
  case OpKind::AveragePool:
    return with<ops::AveragePool>({of({2, 1, 4, 5})}, [](auto& op) { poolWindows(op); });
  case OpKind::AveragePoolGradient:
    return with<ops::AveragePoolGradient>({of({2, 1, 4, 2})}, [](auto& op) {
      op.shape = {2, 1, 4, 5};
      poolWindows(op);
    });
  case OpKind::ReduceSum: return with<ops::ReduceSum>({of({2, 3, 4})}, [](auto& op) { op.axes = {0, -1}; });
  case OpKind::ReduceMean: return with<ops::ReduceMean>({matrix}, [](auto& op) { op.axes = {0}; });
  case OpKind::ReduceMax:
    return with<ops::ReduceMax>({matrix}, [](auto& op) {
      op.axes = {1};
      op.keepDims = true;
    });
  case OpKind::ArgMax: return {ops::ArgMax{}, {matrix}};
  case OpKind::Softmax: return {ops::Softmax{}, {matrix}};
  case OpKind::LogSoftmax: return with<ops::LogSoftmax>({matrix}, [](auto& op) { op.axis = 0; });
  case OpKind::SoftmaxCrossEntropy:
    return with<ops::SoftmaxCrossEntropy>({matrix, i64({2})}, [&](auto& op) {
      op.loss = element == ElementType::F64 ? LossType::Unstated : LossType::F32;
    });
  case OpKind::SoftmaxCrossEntropyGradient:
    return {ops::SoftmaxCrossEntropyGradient{},
            {matrix, i32({2}), isFloat(element) && byteWidth(element) == 2 ? f32({}) : scalar}};
  case OpKind::Reshape: return with<ops::Reshape>({matrix}, [](auto& op) { op.shape = {3, -1}; });
  case OpKind::Subview: return with<ops::Subview>({matrix}, [](auto& op) { op.shape = {2, 2}; });
  case OpKind::StopGradient: return {ops::StopGradient{}, {matrix}};
  case OpKind::Cut:
    return with<ops::Cut>({matrix}, [](auto& op) {
      op.axis = -1;
      op.devices = "gpu*";
    });
  case OpKind::Transpose:
    return with<ops::Transpose>({of({2, 3, 4})}, [](auto& op) { op.permutation = {2, 0, 1}; });
  case OpKind::Broadcast: return with<ops::Broadcast>({column}, [](auto& op) { op.shape = {4, 2, 3}; });
  case OpKind::Concat: return with<ops::Concat>({matrix, column, matrix}, [](auto& op) { op.axis = -1; });
  case OpKind::Slice:
    return with<ops::Slice>({of({5, 6})}, [](auto& op) {
      op.starts = {1, 0};
      op.ends = {4, 6};
      op.strides = {1, 4};
    });
  case OpKind::Pad:
    return with<ops::Pad>({matrix}, [](auto& op) {
      op.low = {1, 0};
      op.high = {0, 2};
      op.interior = {2, 0};
    });
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return ofFormula(kind, {matrix, column, row});
  }
  DFC_UNREACHABLE("op kind");
}

} // namespace dfc::test
