// RandomWindows: calls of convolutions, pools and batch normalisations with random attributes. Part of
// random_graph.cpp.
#pragma once

#include "ir/graph/rules/convolution.h"
#include "ir/graph/rules/layout.h"
#include "tests/support/random_operands.h"

namespace dfc::test {

class RandomWindows : public RandomOperands {
 public:
  using RandomOperands::RandomOperands;

 protected:
  struct Call {
    OpAttributes attributes;
    llvm::SmallVector<ValueId, 3> operands;
  };

  ElementType someFloat() { return someElement(isFloat, ElementType::F32); }
  ValueId image(ElementType element) {
    return find({element, Shape{anyDim(), anyDim(), anyDim(), anyDim()}},
                [&](const TensorType& type) { return type.element == element && type.shape.rank() == 4; });
  }
  Dims twoNumbers(int64_t least, int64_t most, int percent) {
    return dice_.chance(percent)
               ? Dims{least + dice_.below(most - least + 1), least + dice_.below(most - least + 1)}
               : Dims{};
  }
  template <class Op>
  void anyWindows(Op& op) {
    op.strides = twoNumbers(1, 3, 50);
    op.low = twoNumbers(0, 2, 50);
    op.high = twoNumbers(0, 2, 50);
    if constexpr (requires { op.dilations; }) {
      op.dilations = twoNumbers(1, 2, 30);
    }
  }
  template <class Op>
  Op anyPool() {
    Op op;
    anyWindows(op);
    op.window = twoNumbers(1, 3, 100);
    return op;
  }
  /// A value of the first result's type, or of any float type where the call is ill-formed.
  ValueId cotangentOf(const OpAttributes& attributes, llvm::ArrayRef<ValueId> operands) {
    llvm::SmallVector<TensorType, 4> types;
    for (const ValueId operand : operands) {
      types.push_back(typeOf(operand));
    }
    const TypeResult result = resultTypes(attributes, types);
    return result.ok() ? exactly(result.types.front()) : real();
  }
  static Dims dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

  /// The call, or the same with the channels last, but for a filter perhaps.
  Call inSomeLayout(Call call) {
    if (dice_.chance(70)) {
      return call;
    }
    OpAttributes last = *channelsLastForm(call.attributes, dice_.chance(50));
    for (size_t i = 0; i < call.operands.size(); ++i) {
      ValueId& operand = call.operands[i];
      if (isOperandLast(last, i)) {
        operand = exactly({typeOf(operand).element, channelsLast(shapeOf(operand))});
      }
    }
    return {std::move(last), std::move(call.operands)};
  }

  Call conv2d() {
    ops::Conv2d op;
    anyWindows(op);
    const ValueId a = image(someFloat());
    const int64_t channels = shapeOf(a)[1];
    op.groups = channels > 0 && dice_.chance(30) ? channels : 1;
    const Shape filter{op.groups * (1 + dice_.below(2)), channels / op.groups, 1 + dice_.below(3),
                       1 + dice_.below(3)};
    return {op, {a, exactly({typeOf(a).element, filter})}};
  }
  Call conv2dInputGradient() {
    const Call forward = conv2d();
    auto op = sameConvolution<ops::Conv2dInputGradient>(forward.attributes.as<ops::Conv2d>());
    op.shape = dimsOf(shapeOf(forward.operands[0]));
    return {op, {forward.operands[1], cotangentOf(forward.attributes, forward.operands)}};
  }
  Call conv2dFilterGradient() {
    const Call forward = conv2d();
    auto op = sameConvolution<ops::Conv2dFilterGradient>(forward.attributes.as<ops::Conv2d>());
    op.shape = dimsOf(shapeOf(forward.operands[1]));
    return {op, {forward.operands[0], cotangentOf(forward.attributes, forward.operands)}};
  }
  Call maxPool() { return {anyPool<ops::MaxPool>(), {image(someElement(isNumber, ElementType::F32))}}; }
  Call maxPoolGradient() {
    const auto forward = anyPool<ops::MaxPool>();
    ops::MaxPoolGradient op;
    op.window = forward.window;
    op.strides = forward.strides;
    op.low = forward.low;
    op.high = forward.high;
    op.dilations = forward.dilations;
    const ValueId a = image(someFloat());
    return {op, {a, cotangentOf(forward, {a})}};
  }
  Call averagePool() {
    auto op = anyPool<ops::AveragePool>();
    op.countPadding = dice_.chance(50);
    return {op, {image(someFloat())}};
  }
  Call averagePoolGradient() {
    const auto forward = anyPool<ops::AveragePool>();
    ops::AveragePoolGradient op;
    op.window = forward.window;
    op.strides = forward.strides;
    op.low = forward.low;
    op.high = forward.high;
    const ValueId a = image(someFloat());
    op.shape = dimsOf(shapeOf(a));
    return {op, {cotangentOf(forward, {a})}};
  }

  // A tensor with an axis, and `vectors` of a number for each of its channels.
  template <class Op>
  Call byChannels(size_t vectors) {
    Op op;
    const ValueId a = real(1);
    const auto rank = static_cast<int64_t>(shapeOf(a).rank());
    op.axis = dice_.below(2 * rank) - rank;
    Call call{op, {a}};
    const int64_t channels = shapeOf(a)[static_cast<size_t>(op.axis < 0 ? op.axis + rank : op.axis)];
    for (size_t i = 0; i < vectors; ++i) {
      call.operands.push_back(exactly({typeOf(a).element, Shape{channels}}));
    }
    return call;
  }
  Call batchNorm() { return byChannels<ops::BatchNorm>(4); }
  Call batchNormTraining() { return byChannels<ops::BatchNormTraining>(2); }
  ValueId sumsFor(const Call& call) {
    return exactly({ElementType::F64, {2, typeOf(call.operands[1]).shape[0]}});
  }
  Call batchNormPass() {
    Call call = byChannels<ops::BatchNormPass>(2);
    call.operands.push_back(sumsFor(call));
    return call;
  }
  Call batchNormGradientPass() {
    Call call = byChannels<ops::BatchNormGradientPass>(3);
    call.operands.push_back(exactly(typeOf(call.operands[0])));
    call.operands.push_back(sumsFor(call));
    return call;
  }
  Call batchNormSums() { return byChannels<ops::BatchNormSums>(0); }
  Call batchNormGradient() {
    Call call = byChannels<ops::BatchNormGradient>(3);
    call.operands.push_back(exactly(typeOf(call.operands[0])));
    return call;
  }
};

} // namespace dfc::test
