// One function for each op of the table. Everything that can go wrong with the operands themselves is said in
// `apply`; types are the business of the ops' own rules.
#include "ir/dsl.h"

#include "ir/op_rules.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// The operands that a number takes its element type from.
llvm::ArrayRef<Operand> peers(const OpAttributes& attributes, llvm::ArrayRef<Operand> operands) {
  return kindOf(attributes) == OpKind::Select ? operands.drop_front() : operands;
}

const Tensor* firstTensor(llvm::ArrayRef<Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.tensor() != nullptr && operand.tensor()->builder() != nullptr) {
      return operand.tensor();
    }
  }
  return nullptr;
}

// A number as a scalar of the type of `peer`; poisoned when that cannot hold it.
Tensor scalarLike(Tensor peer, OpKind kind, const Operand& number) {
  if (!peer.valid()) {
    return {peer.builder(), {}};
  }
  const ElementType element = peer.type().element;
  if (!canHold(element, *number.number())) {
    peer.builder()->report(number.where(),
                           fmt::format("{} of {} and {}: {} cannot hold {}", nameOf(kind),
                                       toString(peer.type()), *number.number(), name(element),
                                       *number.number()),
                           "cast the tensor to a float type first, or give a number of its type");
    return {peer.builder(), {}};
  }
  return peer.builder()->scalar(element, *number.number(), number.where());
}

Tensor refuseNumbers(Builder& builder, const OpAttributes& attributes, std::source_location where) {
  const bool select = kindOf(attributes) == OpKind::Select;
  builder.report(where,
                 fmt::format("{} of numbers only: they have no element type", nameOf(kindOf(attributes))),
                 select ? "make one branch a tensor with Builder::scalar, and the condition with compare"
                        : "make a tensor with Builder::scalar");
  return {&builder, {}};
}

// An op on tensors and numbers. Without any tensor there is no graph to append to or to complain in: the
// result is then an empty Tensor, which is refused where it is used.
Tensor apply(OpAttributes attributes, llvm::ArrayRef<Operand> operands) {
  const Tensor* any = firstTensor(operands);
  if (any == nullptr) {
    return {};
  }
  Builder& builder = *any->builder();
  const Tensor* peer = firstTensor(peers(attributes, operands));
  llvm::SmallVector<Tensor, 3> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const bool isPeer = operands.size() - i <= peers(attributes, operands).size();
    if (operand.number() != nullptr && (peer == nullptr || !isPeer)) {
      return refuseNumbers(builder, attributes, operand.where());
    }
    tensors.push_back(operand.number() != nullptr ? scalarLike(*peer, kindOf(attributes), operand)
                                                  : *operand.tensor());
  }
  return builder.op(std::move(attributes), tensors, operands.front().where());
}

template <class Reduction>
Tensor reduce(const Operand& a, Dims&& axes, bool keepDims) {
  Reduction attributes;
  attributes.axes = std::move(axes);
  attributes.keepDims = keepDims;
  return apply(std::move(attributes), {a});
}

template <class Softmax>
Tensor alongAxis(const Operand& a, int64_t axis) {
  Softmax attributes;
  attributes.axis = axis;
  return apply(attributes, {a});
}

} // namespace

Tensor operator+(Operand a, Operand b) { return apply(ops::Add{}, {a, b}); }
Tensor operator-(Operand a, Operand b) { return apply(ops::Sub{}, {a, b}); }
Tensor operator*(Operand a, Operand b) { return apply(ops::Mul{}, {a, b}); }
Tensor operator/(Operand a, Operand b) { return apply(ops::Div{}, {a, b}); }
Tensor operator-(Operand a) { return apply(ops::Neg{}, {a}); }
Tensor max(Operand a, Operand b) { return apply(ops::Maximum{}, {a, b}); }
Tensor min(Operand a, Operand b) { return apply(ops::Minimum{}, {a, b}); }

Tensor exp(Operand a) { return apply(ops::Exp{}, {a}); }
Tensor log(Operand a) { return apply(ops::Log{}, {a}); }
Tensor sqrt(Operand a) { return apply(ops::Sqrt{}, {a}); }
Tensor tanh(Operand a) { return apply(ops::Tanh{}, {a}); }
Tensor sigmoid(Operand a) { return apply(ops::Sigmoid{}, {a}); }
Tensor relu(Operand a) { return apply(ops::Relu{}, {a}); }

Tensor cast(Operand a, ElementType to) {
  ops::Cast attributes;
  attributes.to = to;
  return apply(attributes, {a});
}

Tensor compare(Operand a, Operand b, Direction direction) {
  ops::Compare attributes;
  attributes.direction = direction;
  return apply(attributes, {a, b});
}

Tensor select(Operand condition, Operand a, Operand b) { return apply(ops::Select{}, {condition, a, b}); }

Tensor matmul(Operand a, Operand b, Transposes transposed, Precision precision) {
  ops::Matmul attributes;
  attributes.transposeA = transposed.a;
  attributes.transposeB = transposed.b;
  attributes.precision = precision;
  return apply(attributes, {a, b});
}

Tensor reduceSum(Operand a, Dims axes, bool keepDims) {
  return reduce<ops::ReduceSum>(a, std::move(axes), keepDims);
}
Tensor reduceMean(Operand a, Dims axes, bool keepDims) {
  return reduce<ops::ReduceMean>(a, std::move(axes), keepDims);
}
Tensor reduceMax(Operand a, Dims axes, bool keepDims) {
  return reduce<ops::ReduceMax>(a, std::move(axes), keepDims);
}

Tensor argMax(Operand a, int64_t axis, bool keepDims) {
  ops::ArgMax attributes;
  attributes.axis = axis;
  attributes.keepDims = keepDims;
  return apply(attributes, {a});
}

Tensor softmax(Operand a, int64_t axis) { return alongAxis<ops::Softmax>(a, axis); }
Tensor logSoftmax(Operand a, int64_t axis) { return alongAxis<ops::LogSoftmax>(a, axis); }
Tensor softmaxCrossEntropy(Operand logits, Operand labels) {
  return apply(ops::SoftmaxCrossEntropy{}, {logits, labels});
}

Tensor reshape(Operand a, Dims shape) {
  ops::Reshape attributes;
  attributes.shape = std::move(shape);
  return apply(std::move(attributes), {a});
}

Tensor transpose(Operand a, Dims permutation) {
  ops::Transpose attributes;
  attributes.permutation = std::move(permutation);
  return apply(std::move(attributes), {a});
}

Tensor broadcast(Operand a, Dims shape) {
  ops::Broadcast attributes;
  attributes.shape = std::move(shape);
  return apply(std::move(attributes), {a});
}

Tensor concat(const std::vector<Tensor>& parts, int64_t axis, std::source_location where) {
  ops::Concat attributes;
  attributes.axis = axis;
  llvm::SmallVector<Operand, 4> operands;
  for (const Tensor& part : parts) {
    operands.emplace_back(part, where);
  }
  return apply(attributes, operands);
}

Tensor slice(Operand a, Dims starts, Dims ends, Dims strides) {
  ops::Slice attributes;
  attributes.starts = std::move(starts);
  attributes.ends = std::move(ends);
  attributes.strides = std::move(strides);
  return apply(std::move(attributes), {a});
}

Tensor pad(Operand a, Dims low, Dims high, Dims interior, double value) {
  ops::Pad attributes;
  attributes.low = std::move(low);
  attributes.high = std::move(high);
  attributes.interior = std::move(interior);
  attributes.value = value;
  return apply(std::move(attributes), {a});
}

} // namespace dfc
