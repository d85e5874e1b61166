// One function for each op of the table. Everything that can go wrong with the operands themselves is said in
// `apply`; types are the business of the ops' own rules.
#include "ir/author/dsl.h"

#include "ir/graph/graph.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// The operands that a number takes its element type from.
llvm::ArrayRef<Operand> sameTyped(const OpAttributes& attributes, llvm::ArrayRef<Operand> operands) {
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

// A number as a scalar of the type of `model`; poisoned when that cannot hold it.
Tensor scalarLike(Tensor model, OpKind kind, const Operand& number) {
  if (!model.valid()) {
    return {model.builder(), {}};
  }
  const ElementType element = model.type().element;
  if (!canHold(element, *number.number())) {
    model.builder()->report(number.where(),
                            fmt::format("{} of {} and {}: {} cannot hold {}", nameOf(kind),
                                        toString(model.type()), *number.number(), name(element),
                                        *number.number()),
                            "cast the tensor to a float type first, or give a number of its type");
    return {model.builder(), {}};
  }
  return model.builder()->scalar(element, *number.number(), number.where());
}

Tensor refuseNumbers(Builder& builder, const OpAttributes& attributes, std::source_location where) {
  const bool select = kindOf(attributes) == OpKind::Select;
  builder.report(where,
                 fmt::format("{} of numbers only: they have no element type", nameOf(kindOf(attributes))),
                 select ? "make one branch a tensor with Builder::scalar, and the condition with compare"
                        : "make a tensor with Builder::scalar");
  return {&builder, {}};
}

using Tensors = std::vector<Tensor>;

// An op on tensors and numbers. Without any tensor there is no graph to append to or to complain in: the
// result is then an empty Tensor, which is refused where it is used.
Tensors applyMulti(OpAttributes attributes, llvm::ArrayRef<Operand> operands) {
  const Tensor* any = firstTensor(operands);
  if (any == nullptr) {
    return {};
  }
  Builder& builder = *any->builder();
  const Tensor* model = firstTensor(sameTyped(attributes, operands));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& operand = operands[i];
    const bool isSameTyped = operands.size() - i <= sameTyped(attributes, operands).size();
    if (operand.number() != nullptr && (model == nullptr || !isSameTyped)) {
      return {refuseNumbers(builder, attributes, operand.where())};
    }
    tensors.push_back(operand.number() != nullptr ? scalarLike(*model, kindOf(attributes), operand)
                                                  : *operand.tensor());
  }
  return builder.multiOp(std::move(attributes), tensors, operands.front().where());
}

// The same with `count` results; poisoned ones after a mistake, so that what depends on them adds none.
Tensors applySeveral(OpAttributes attributes, llvm::ArrayRef<Operand> operands, size_t count) {
  Tensors results = applyMulti(std::move(attributes), operands);
  if (results.size() != count) {
    const Tensor* any = firstTensor(operands);
    results.assign(count, any == nullptr ? Tensor() : Tensor(any->builder(), {}));
  }
  return results;
}

Tensor apply(OpAttributes attributes, llvm::ArrayRef<Operand> operands) {
  return applySeveral(std::move(attributes), operands, 1).front();
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

// What every op over windows has.
template <class Op>
void setWindow(Op& attributes, Window&& window) {
  attributes.strides = std::move(window.strides);
  attributes.low = std::move(window.low);
  attributes.high = std::move(window.high);
}

} // namespace

Tensor operator+(Operand a, Operand b) { return apply(ops::Add{}, {a, b}); }
Tensor operator-(Operand a, Operand b) { return apply(ops::Sub{}, {a, b}); }
Tensor operator*(Operand a, Operand b) { return apply(ops::Mul{}, {a, b}); }
Tensor operator/(Operand a, Operand b) { return apply(ops::Div{}, {a, b}); }
Tensor operator-(Operand a) { return apply(ops::Neg{}, {a}); }
Tensor max(Operand a, Operand b) { return apply(ops::Maximum{}, {a, b}); }
Tensor min(Operand a, Operand b) { return apply(ops::Minimum{}, {a, b}); }

Tensor pow(Operand a, Operand b) { return apply(ops::Pow{}, {a, b}); }
Tensor operator&(Operand a, Operand b) { return apply(ops::And{}, {a, b}); }
Tensor operator|(Operand a, Operand b) { return apply(ops::Or{}, {a, b}); }
Tensor operator^(Operand a, Operand b) { return apply(ops::Xor{}, {a, b}); }
Tensor operator~(Operand a) { return apply(ops::Not{}, {a}); }

Tensor abs(Operand a) { return apply(ops::Abs{}, {a}); }
Tensor sign(Operand a) { return apply(ops::Sign{}, {a}); }
Tensor floor(Operand a) { return apply(ops::Floor{}, {a}); }
Tensor ceil(Operand a) { return apply(ops::Ceil{}, {a}); }
Tensor round(Operand a) { return apply(ops::Round{}, {a}); }

Tensor exp(Operand a) { return apply(ops::Exp{}, {a}); }
Tensor log(Operand a) { return apply(ops::Log{}, {a}); }
Tensor sqrt(Operand a) { return apply(ops::Sqrt{}, {a}); }
Tensor sin(Operand a) { return apply(ops::Sin{}, {a}); }
Tensor cos(Operand a) { return apply(ops::Cos{}, {a}); }
Tensor erf(Operand a) { return apply(ops::Erf{}, {a}); }
Tensor tanh(Operand a) { return apply(ops::Tanh{}, {a}); }
Tensor relu(Operand a) { return apply(ops::Relu{}, {a}); }

Tensor gelu(Operand a, Approximation approximate) {
  ops::Gelu attributes;
  attributes.approximate = approximate;
  return apply(attributes, {a});
}
#include "ir/author/formula_functions.inc" // generated: one function for each formula op

Tensor clip(Operand a, Operand low, Operand high) { return apply(ops::Clip{}, {a, low, high}); }

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

namespace {

bool isVector(const Operand& operand) {
  return operand.tensor() != nullptr && operand.tensor()->valid() && operand.tensor()->shape().rank() == 1;
}

// A vector as the row in front of a matrix, or the column behind it, and the product without that axis.
Tensor matmulOfVectors(const Operand& a, const Operand& b, Transposes transposed, Precision precision) {
  const bool row = isVector(a), column = isVector(b);
  const Tensor left = row ? reshape(a, {1, a.tensor()->shape()[0]}) : *a.tensor();
  const Tensor right = column ? reshape(b, {b.tensor()->shape()[0], 1}) : *b.tensor();
  const Tensor product = matmul({left, a.where()}, {right, b.where()},
                                {.a = transposed.a && !row, .b = transposed.b && !column}, precision);
  if (!product.valid()) {
    return product;
  }
  Dims dims(product.shape().dims().begin(), product.shape().dims().end());
  if (row) {
    dims.erase(dims.end() - 2);
  }
  if (column) {
    dims.pop_back();
  }
  return reshape({product, a.where()}, dims);
}

} // namespace

Tensor matmul(Operand a, Operand b, Transposes transposed, Precision precision) {
  if ((isVector(a) && b.tensor() != nullptr) || (isVector(b) && a.tensor() != nullptr)) {
    return matmulOfVectors(a, b, transposed, precision);
  }
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

Tensor reduceMin(Operand a, Dims axes, bool keepDims) {
  return reduce<ops::ReduceMin>(a, std::move(axes), keepDims);
}
Tensor reduceProduct(Operand a, Dims axes, bool keepDims) {
  return reduce<ops::ReduceProduct>(a, std::move(axes), keepDims);
}

Tensor cumSum(Operand a, int64_t axis, Running running) {
  ops::CumSum attributes;
  attributes.axis = axis;
  attributes.exclusive = running.exclusive;
  attributes.reverse = running.reverse;
  return apply(attributes, {a});
}

Tensor argMax(Operand a, int64_t axis, bool keepDims) {
  ops::ArgMax attributes;
  attributes.axis = axis;
  attributes.keepDims = keepDims;
  return apply(attributes, {a});
}

Tensor softmax(Operand a, int64_t axis) { return alongAxis<ops::Softmax>(a, axis); }
Tensor logSoftmax(Operand a, int64_t axis) { return alongAxis<ops::LogSoftmax>(a, axis); }
namespace {

// Whether labels have the axes of logits but for the last, and are more than one.
bool haveRowsOfAxes(const Operand& logits, const Operand& labels) {
  if (logits.tensor() == nullptr || labels.tensor() == nullptr || !logits.tensor()->valid() ||
      !labels.tensor()->valid()) {
    return false;
  }
  const Shape &rows = labels.tensor()->shape(), &all = logits.tensor()->shape();
  return rows.rank() > 1 && all.rank() == rows.rank() + 1 && dimRange(all).drop_back() == dimRange(rows);
}

} // namespace

Tensor softmaxCrossEntropy(Operand logits, Operand labels, LossType loss) {
  ops::SoftmaxCrossEntropy attributes;
  attributes.loss = loss;
  if (haveRowsOfAxes(logits, labels)) {
    const int64_t rows = labels.tensor()->shape().elements();
    const int64_t classes = logits.tensor()->shape()[labels.tensor()->shape().rank()];
    return apply(attributes, {Operand(reshape(logits, {rows, classes}), logits.where()),
                              Operand(reshape(labels, {rows}), labels.where())});
  }
  return apply(attributes, {logits, labels});
}

Tensor reshape(Operand a, Dims shape) {
  ops::Reshape attributes;
  attributes.shape = std::move(shape);
  return apply(std::move(attributes), {a});
}

Tensor cut(Operand a, int64_t axis, std::string_view devices) {
  ops::Cut attributes;
  attributes.axis = axis;
  attributes.devices = devices;
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

TopK topK(Operand a, int64_t k, int64_t axis, bool largest) {
  ops::TopK attributes;
  attributes.k = k;
  attributes.axis = axis;
  attributes.largest = largest;
  const Tensors results = applySeveral(attributes, {a}, 2);
  return {results[0], results[1]};
}

Tensor layerNorm(Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
  ops::LayerNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return apply(attributes, {a, scale, bias});
}

Tensor quantizedMatmul(Operand a, Operand weights, Operand scales, int64_t bits) {
  ops::QuantizedMatmul attributes;
  attributes.bits = bits;
  return apply(attributes, {a, weights, scales});
}

Tensor rmsNorm(Operand a, Operand scale, int64_t axis, double epsilon) {
  ops::RmsNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return apply(attributes, {a, scale});
}

Tensor batchNorm(Operand a, Operand scale, Operand bias, Operand mean, Operand variance, int64_t axis,
                 double epsilon) {
  ops::BatchNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return apply(attributes, {a, scale, bias, mean, variance});
}

Normalised batchNormTraining(Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
  ops::BatchNormTraining attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  const Tensors results = applySeveral(attributes, {a, scale, bias}, 3);
  return {results[0], results[1], results[2]};
}

Tensor dropout(Operand a, Operand step, double rate, int64_t seed) {
  ops::Dropout attributes;
  attributes.rate = rate;
  attributes.seed = seed;
  return apply(attributes, {a, step});
}

Tensor randomUniform(Operand step, const TensorType& type, int64_t seed) {
  ops::RandomUniform attributes;
  attributes.type = type;
  attributes.seed = seed;
  return apply(std::move(attributes), {step});
}

Tensor conv2d(Operand a, Operand filter, Window window, int64_t groups, Precision precision) {
  ops::Conv2d attributes;
  attributes.dilations = std::move(window.dilations);
  setWindow(attributes, std::move(window));
  attributes.groups = groups;
  attributes.precision = precision;
  return apply(std::move(attributes), {a, filter});
}

Tensor maxPool(Operand a, Dims size, Window window) {
  ops::MaxPool attributes;
  attributes.window = std::move(size);
  attributes.dilations = std::move(window.dilations);
  setWindow(attributes, std::move(window));
  return apply(std::move(attributes), {a});
}

Tensor averagePool(Operand a, Dims size, Window window, bool countPadding) {
  ops::AveragePool attributes;
  attributes.window = std::move(size);
  attributes.countPadding = countPadding;
  setWindow(attributes, std::move(window));
  return apply(std::move(attributes), {a});
}

std::vector<Tensor> split(Operand a, Dims sizes, int64_t axis) {
  ops::Split attributes;
  attributes.sizes = std::move(sizes);
  attributes.axis = axis;
  const size_t count = attributes.sizes.size();
  const Tensors parts = applySeveral(std::move(attributes), {a}, count);
  return {parts.begin(), parts.end()};
}

Tensor dynamicSlice(Operand a, Operand starts, Dims sizes, Dims axes) {
  ops::DynamicSlice attributes;
  attributes.sizes = std::move(sizes);
  attributes.axes = std::move(axes);
  return apply(std::move(attributes), {a, starts});
}

Tensor dynamicUpdateSlice(Operand a, Operand update, Operand starts, Dims axes) {
  ops::DynamicUpdateSlice attributes;
  attributes.axes = std::move(axes);
  return apply(std::move(attributes), {a, update, starts});
}

Tensor tile(Operand a, Dims repeats) {
  ops::Tile attributes;
  attributes.repeats = std::move(repeats);
  return apply(std::move(attributes), {a});
}

Tensor gather(Operand a, Operand indices, int64_t axis) {
  ops::Gather attributes;
  attributes.axis = axis;
  return apply(attributes, {a, indices});
}

Tensor scatterAdd(Operand a, Operand indices, Operand updates, int64_t axis) {
  ops::ScatterAdd attributes;
  attributes.axis = axis;
  return apply(attributes, {a, indices, updates});
}

Tensor oneHot(Operand indices, int64_t depth, int64_t axis, ElementType to) {
  ops::OneHot attributes;
  attributes.depth = depth;
  attributes.axis = axis;
  attributes.to = to;
  return apply(attributes, {indices});
}

Tensor iota(Builder& builder, const TensorType& type, int64_t axis, std::source_location where) {
  ops::Iota attributes;
  attributes.type = type;
  attributes.axis = axis;
  return builder.op(std::move(attributes), {}, where);
}

Tensor trilu(Operand a, int64_t k, bool upper) {
  ops::Trilu attributes;
  attributes.k = k;
  attributes.upper = upper;
  return apply(attributes, {a});
}

} // namespace dfc
