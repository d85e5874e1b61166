// RandomCalls: an op of a kind with random operands and attributes, mostly such as its type rule accepts.
// Part of random_graph.cpp.
#pragma once

#include "ir/graph/formula/formulas.h"
#include "tests/support/random_indexing.h"

#include <numeric>

namespace dfc::test {

class RandomCalls : public RandomIndexing {
 public:
  using RandomIndexing::RandomIndexing;

 protected:
  Call unary(OpAttributes attributes, ValueId operand) { return {std::move(attributes), {operand}}; }
  Call binary(OpKind kind, ValueId a) {
    const ValueId b = partner(typeOf(a).element, shapeOf(a));
    return {defaultAttributes(kind),
            dice_.chance(50) ? llvm::SmallVector<ValueId, 3>{a, b} : llvm::SmallVector<ValueId, 3>{b, a}};
  }
  Call compare() {
    Call call = binary(OpKind::Compare, number());
    ops::Compare attributes;
    attributes.direction = static_cast<ops::Compare::Direction>(dice_.below(6));
    call.attributes = attributes;
    return call;
  }
  Call select() {
    const ValueId a = anyValue();
    const ValueId b = partner(typeOf(a).element, shapeOf(a));
    return {ops::Select{}, {partner(ElementType::Bool, shapeOf(a)), a, b}};
  }
  Call formula(OpKind kind) {
    const FormulaFacts& facts = *formulaOf(kind);
    OpAttributes attributes = defaultAttributes(kind);
    if (facts.bodies.size() > 1) {
      setFormulaVariant(attributes,
                        static_cast<uint8_t>(dice_.below(static_cast<int64_t>(facts.bodies.size()))));
    }
    const ValueId first = real();
    Call call{std::move(attributes), {first}};
    while (call.operands.size() < facts.operands) {
      call.operands.push_back(partner(typeOf(first).element, shapeOf(first)));
    }
    if (facts.operands > 1) {
      std::swap(call.operands.front(),
                call.operands[static_cast<size_t>(dice_.below(static_cast<int64_t>(facts.operands)))]);
    }
    return call;
  }
  Call clip() {
    const ValueId a = number();
    const ValueId b = partner(typeOf(a).element, shapeOf(a)), c = partner(typeOf(a).element, shapeOf(a));
    Call call{ops::Clip{}, {a, b, c}};
    std::swap(call.operands[0], call.operands[static_cast<size_t>(dice_.below(3))]);
    return call;
  }
  Call cast() {
    ops::Cast attributes;
    attributes.to = dice_.oneOf(options_.elements);
    return unary(attributes, anyValue());
  }
  Dims someAxes(size_t rank) {
    Dims axes;
    for (size_t axis = 0; axis < rank; ++axis) {
      if (dice_.chance(50)) {
        axes.push_back(static_cast<int64_t>(axis) - (dice_.chance(30) ? static_cast<int64_t>(rank) : 0));
      }
    }
    return axes;
  }
  template <class Op>
  Call reduction(ValueId operand) {
    Op attributes;
    attributes.axes = someAxes(shapeOf(operand).rank());
    attributes.keepDims = dice_.chance(40);
    return unary(attributes, operand);
  }
  template <class Op>
  Call alongAxis(ValueId operand) {
    Op attributes;
    const auto rank = static_cast<int64_t>(shapeOf(operand).rank());
    attributes.axis = rank == 0 ? -1 : dice_.below(2 * rank) - rank;
    return unary(attributes, operand);
  }
  Call matmul() {
    const ValueId a =
        find({someElement(isNumber, ElementType::F32), Shape{anyDim(), anyDim()}},
             [](const TensorType& type) { return isNumber(type.element) && type.shape.rank() >= 2; });
    ops::Matmul attributes;
    attributes.transposeA = dice_.chance(30);
    attributes.transposeB = dice_.chance(30);
    const llvm::ArrayRef<int64_t> dims = dimRange(shapeOf(a));
    const int64_t inner = dims[dims.size() - (attributes.transposeA ? 2 : 1)], columns = anyDim();
    const Shape batch = partnerShape(Shape(dims.drop_back(2)));
    Dims other(batch.dims().begin(), batch.dims().end());
    other.push_back(attributes.transposeB ? columns : inner);
    other.push_back(attributes.transposeB ? inner : columns);
    return {attributes, {a, exactly({typeOf(a).element, Shape(other)})}};
  }
  Call quantizedMatmul() {
    ops::QuantizedMatmul attributes;
    attributes.bits = dice_.chance(50) ? 8 : 4;
    const int64_t runs = 1 + dice_.below(3), inner = runs * attributes.perByte() * (1 + dice_.below(3));
    const int64_t columns = anyDim();
    const ElementType element = someElement(isFloat, ElementType::F32);
    const ValueId a = exactly({element, {anyDim(), inner}});
    return {attributes,
            {a, exactly({ElementType::U8, {columns, inner / attributes.perByte()}}),
             exactly({element, {columns, runs}})}};
  }
  ValueId labels(const Shape& logits) {
    Literal value({dice_.chance(50) ? ElementType::I32 : ElementType::I64, {logits[0]}});
    for (int64_t row = 0; row < logits[0]; ++row) {
      value.set(row, static_cast<double>(dice_.below(std::max<int64_t>(logits[1], 1))));
    }
    return constant(std::move(value));
  }
  Call crossEntropy(bool gradient) {
    const ElementType element = someElement(isFloat, ElementType::F32);
    const ValueId logits = find({element, Shape{anyDim(), anyDim()}}, [](const TensorType& type) {
      return isFloat(type.element) && type.shape.rank() == 2;
    });
    const ValueId classes = labels(shapeOf(logits));
    const ElementType of = typeOf(logits).element;
    const bool f32Loss = of != ElementType::F64 && dice_.chance(50);
    if (!gradient) {
      ops::SoftmaxCrossEntropy attributes;
      attributes.loss = f32Loss ? LossType::F32 : LossType::Unstated;
      return {attributes, {logits, classes}};
    }
    return {ops::SoftmaxCrossEntropyGradient{},
            {logits, classes, exactly({f32Loss ? ElementType::F32 : of, {}})}};
  }
  // Heads in groups, with and without a mask, causal or not. The gradient's logSumExp is attention's own, as
  // its kernels may ask.
  Call attention(bool gradient) {
    const ElementType element = someElement(isFloat, ElementType::F32);
    const ElementType sums = element == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    const int64_t keyHeads = 1 + dice_.below(2), heads = keyHeads * (1 + dice_.below(2));
    const int64_t queries = anyDim(), keys = anyDim(), width = anyDim(), valueWidth = anyDim();
    ops::Attention op;
    op.causal = dice_.chance(50);
    op.scale = dice_.chance(50) ? 0 : 0.25 * static_cast<double>(1 + dice_.below(4));
    op.layout = static_cast<AttentionLayout>(dice_.below(3));
    const bool packed = op.layout == AttentionLayout::Packed, inHeads = op.layout == AttentionLayout::Heads;
    const auto shaped = [&](int64_t of, int64_t rows, int64_t columns) {
      return inHeads ? Shape{of, rows, columns} : Shape{rows, of, columns};
    };
    llvm::SmallVector<ValueId, 3> operands;
    if (packed) {
      op.keyHeads = keyHeads;
      operands.assign(3, exactly({element, shaped(heads + 2 * keyHeads, queries, width)}));
    } else {
      operands = {exactly({element, shaped(heads, queries, width)}),
                  exactly({element, shaped(keyHeads, keys, width)}),
                  exactly({element, shaped(keyHeads, keys, valueWidth)})};
    }
    const bool masked = dice_.chance(40);
    if (masked) {
      operands.push_back(exactly(
          {ElementType::Bool, Shape{dice_.chance(50) ? heads : 1, queries, packed ? queries : keys}}));
    }
    if (!gradient) {
      return {op, operands};
    }
    const ValueId result = appended(op, operands);
    const ValueId mask = operands.back();
    operands.truncate(3);
    operands.push_back(exactly({element, shaped(heads, queries, packed ? width : valueWidth)}));
    operands.push_back(ValueId(result.index() + 1));
    operands.push_back(supply(
        {sums, inHeads ? Shape{heads, queries} : Shape{queries, heads}})); // finite, as sums of products are
    if (masked) {
      operands.push_back(mask);
    }
    return {ops::AttentionGradient{{}, op}, operands};
  }
  Call reshape() {
    const ValueId operand = anyValue();
    Dims dims(shapeOf(operand).dims().begin(), shapeOf(operand).dims().end());
    if (dice_.chance(30)) {
      dims.assign(1, shapeOf(operand).elements());
    }
    if (dice_.chance(60)) {
      dims.insert(dims.begin() + dice_.below(static_cast<int64_t>(dims.size()) + 1), 1);
    }
    std::rotate(dims.begin(),
                dims.begin() + (dims.empty() ? 0 : dice_.below(static_cast<int64_t>(dims.size()))),
                dims.end());
    ops::Reshape attributes;
    attributes.shape = dims;
    return unary(attributes, operand);
  }
  Call cut() { // of a scalar an identity of another kind
    const ValueId operand = anyValue();
    const auto rank = static_cast<int64_t>(shapeOf(operand).rank());
    if (rank == 0) {
      return unary(ops::Reshape{}, operand);
    }
    ops::Cut attributes;
    attributes.axis = dice_.below(2 * rank) - rank;
    attributes.devices = dice_.chance(50) ? "gpu*" : "*";
    return unary(attributes, operand);
  }
  Call transpose() {
    const ValueId operand = anyValue();
    ops::Transpose attributes;
    attributes.permutation.resize(dice_.chance(20) ? 0 : shapeOf(operand).rank());
    std::iota(attributes.permutation.begin(), attributes.permutation.end(), 0);
    for (size_t i = attributes.permutation.size(); i > 1; --i) {
      std::swap(attributes.permutation[i - 1],
                attributes.permutation[static_cast<size_t>(dice_.below(static_cast<int64_t>(i)))]);
    }
    return unary(attributes, operand);
  }
  Call broadcast() {
    const ValueId operand = anyValue();
    ops::Broadcast attributes;
    for (int64_t extra = dice_.below(3); extra > 0; --extra) {
      attributes.shape.push_back(anyDim());
    }
    for (const int64_t dim : shapeOf(operand).dims()) {
      attributes.shape.push_back(dim == 1 ? anyDim() : dim);
    }
    return unary(attributes, operand);
  }
  Call concat() {
    const ValueId first = anyValue();
    ops::Concat attributes;
    Call call{attributes, {first}};
    const auto rank = static_cast<int64_t>(shapeOf(first).rank());
    if (rank == 0) {
      return call;
    }
    attributes.axis = dice_.below(rank);
    call.attributes = attributes;
    for (int64_t more = dice_.below(3); more > 0; --more) {
      Dims dims(shapeOf(first).dims().begin(), shapeOf(first).dims().end());
      dims[static_cast<size_t>(attributes.axis)] = anyDim();
      call.operands.push_back(dice_.chance(30) ? first : exactly({typeOf(first).element, Shape(dims)}));
    }
    return call;
  }
  Call slice() {
    const ValueId operand = anyValue();
    ops::Slice attributes;
    for (const int64_t dim : shapeOf(operand).dims()) {
      const int64_t start = dice_.chance(50) ? 0 : dice_.below(dim + 1);
      attributes.starts.push_back(start);
      attributes.ends.push_back(dice_.chance(50) ? dim : start + dice_.below(dim - start + 1));
      attributes.strides.push_back(dice_.chance(70) ? 1 : 1 + dice_.below(3));
    }
    if (dice_.chance(50)) {
      attributes.strides.clear();
    }
    return unary(attributes, operand);
  }
  Call pad() {
    const ValueId operand = anyValue();
    ops::Pad attributes;
    const auto width = [&] { return dice_.chance(60) ? 0 : dice_.below(3); };
    for (size_t axis = 0; axis < shapeOf(operand).rank(); ++axis) {
      attributes.low.push_back(width());
      attributes.high.push_back(width());
      attributes.interior.push_back(width());
    }
    if (dice_.chance(50)) {
      attributes.interior.clear();
    }
    attributes.value = dice_.chance(70) ? 0 : 1;
    return unary(attributes, operand);
  }

  Call callOf(OpKind kind) {
    switch (kind) {
    case OpKind::Matmul: return matmul();
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::Div:
    case OpKind::Maximum:
    case OpKind::Minimum: return binary(kind, number());
    case OpKind::Pow: return binary(kind, real());
    case OpKind::And:
    case OpKind::Or:
    case OpKind::Xor: return binary(kind, whole());
    case OpKind::Not: return unary(defaultAttributes(kind), whole());
    case OpKind::Neg:
    case OpKind::Abs:
    case OpKind::Sign:
    case OpKind::Relu: return unary(defaultAttributes(kind), number());
    case OpKind::Floor:
    case OpKind::Ceil:
    case OpKind::Round:
    case OpKind::Exp:
    case OpKind::Log:
    case OpKind::Sqrt:
    case OpKind::Sin:
    case OpKind::Cos:
    case OpKind::Erf:
    case OpKind::Tanh: return unary(defaultAttributes(kind), real());
    case OpKind::Clip: return clip();
    case OpKind::Compare: return compare();
    case OpKind::Select: return select();
    case OpKind::Cast: return cast();
    case OpKind::ReduceSum: return reduction<ops::ReduceSum>(number());
    case OpKind::ReduceMean: return reduction<ops::ReduceMean>(real());
    case OpKind::ReduceMax: return reduction<ops::ReduceMax>(number());
    case OpKind::ReduceMin: return reduction<ops::ReduceMin>(number());
    case OpKind::ReduceProduct: return reduction<ops::ReduceProduct>(number());
    case OpKind::CumSum: return cumSum();
    case OpKind::TopK: return topK();
    case OpKind::LayerNorm: return roundedNorm<ops::LayerNorm>(dice_.chance(70));
    case OpKind::QuantizedMatmul: return quantizedMatmul();
    case OpKind::RmsNorm: return roundedNorm<ops::RmsNorm>(false);
    case OpKind::Dropout: return dropout();
    case OpKind::RandomUniform: return randomUniform();
    case OpKind::DynamicSlice: return dynamicSlice();
    case OpKind::DynamicUpdateSlice: return dynamicUpdateSlice();
    case OpKind::Split: return split();
    case OpKind::Tile: return tile();
    case OpKind::Gather: return gather();
    case OpKind::ScatterAdd: return scatterAdd();
    case OpKind::OneHot: return oneHot();
    case OpKind::Iota: return iota();
    case OpKind::Trilu: return trilu();
    case OpKind::ArgMax: return alongAxis<ops::ArgMax>(number());
    case OpKind::Softmax: return alongAxis<ops::Softmax>(real(1));
    case OpKind::LogSoftmax: return alongAxis<ops::LogSoftmax>(real(1));
    case OpKind::SoftmaxCrossEntropy: return crossEntropy(false);
    case OpKind::SoftmaxCrossEntropyGradient: return crossEntropy(true);
    case OpKind::Attention: return attention(false);
    case OpKind::AttentionGradient: return attention(true);
    case OpKind::Reshape: return reshape();
    case OpKind::StopGradient: return unary(ops::StopGradient{}, anyValue());
    case OpKind::Cut: return cut();
    case OpKind::Transpose: return transpose();
    case OpKind::Broadcast: return broadcast();
    case OpKind::Concat: return concat();
    case OpKind::Slice: return slice();
    case OpKind::Pad: return pad();
    case OpKind::LayerNormGradient: {
      Call call = normGradient<ops::LayerNormGradient>();
      call.attributes.as<ops::LayerNormGradient>().toBias = dice_.chance(70);
      return call;
    }
    case OpKind::RmsNormGradient: return normGradient<ops::RmsNormGradient>();
    case OpKind::BatchNorm: return batchNorm();
    case OpKind::BatchNormTraining: return batchNormTraining();
    case OpKind::BatchNormGradient: return batchNormGradient();
    case OpKind::BatchNormSums: return batchNormSums();
    case OpKind::BatchNormPass: return batchNormPass();
    case OpKind::BatchNormGradientPass: return batchNormGradientPass();
    case OpKind::Conv2d: return inSomeLayout(conv2d());
    case OpKind::Conv2dInputGradient: return inSomeLayout(conv2dInputGradient());
    case OpKind::Conv2dFilterGradient: return inSomeLayout(conv2dFilterGradient());
    case OpKind::MaxPool: return inSomeLayout(maxPool());
    case OpKind::MaxPoolGradient: return inSomeLayout(maxPoolGradient());
    case OpKind::AveragePool: return inSomeLayout(averagePool());
    case OpKind::AveragePoolGradient: return inSomeLayout(averagePoolGradient());
    case OpKind::Input:
    case OpKind::Parameter:
    case OpKind::Constant:
    case OpKind::Assign:
    case OpKind::Transfer:
    case OpKind::Subview:
    case OpKind::Gradients:
    case OpKind::Custom:
    case OpKind::Fused:
    case OpKind::FusedMatmul:
    case OpKind::FusedConv2d: break;
#define DFC_OP(Type, text)
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
      return formula(kind);
    }
    DFC_UNREACHABLE("a random graph has no call of " + std::string(nameOf(kind)));
  }
};

} // namespace dfc::test
