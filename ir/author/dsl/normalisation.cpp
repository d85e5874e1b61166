// Softmax and its loss, norms, dropout.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

namespace {

template <class Softmax>
Tensor alongAxis(const Operand& a, int64_t axis) {
  Softmax attributes;
  attributes.axis = axis;
  return dsl::apply(attributes, {a});
}

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

Tensor softmax(Operand a, int64_t axis) { return alongAxis<ops::Softmax>(a, axis); }
Tensor logSoftmax(Operand a, int64_t axis) { return alongAxis<ops::LogSoftmax>(a, axis); }

Tensor softmaxCrossEntropy(Operand logits, Operand labels, LossType loss) {
  ops::SoftmaxCrossEntropy attributes;
  attributes.loss = loss;
  if (haveRowsOfAxes(logits, labels)) {
    const int64_t rows = labels.tensor()->shape().elements();
    const int64_t classes = logits.tensor()->shape()[labels.tensor()->shape().rank()];
    return dsl::apply(attributes, {Operand(reshape(logits, {rows, classes}), logits.where()),
                                   Operand(reshape(labels, {rows}), labels.where())});
  }
  return dsl::apply(attributes, {logits, labels});
}

Tensor layerNorm(Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
  ops::LayerNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return dsl::apply(attributes, {a, scale, bias});
}

Tensor rmsNorm(Operand a, Operand scale, int64_t axis, double epsilon) {
  ops::RmsNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return dsl::apply(attributes, {a, scale});
}

Tensor batchNorm(Operand a, Operand scale, Operand bias, Operand mean, Operand variance, int64_t axis,
                 double epsilon) {
  ops::BatchNorm attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  return dsl::apply(attributes, {a, scale, bias, mean, variance});
}

Normalised batchNormTraining(Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
  ops::BatchNormTraining attributes;
  attributes.axis = axis;
  attributes.epsilon = epsilon;
  const std::vector<Tensor> results = dsl::applySeveral(attributes, {a, scale, bias}, 3);
  return {results[0], results[1], results[2]};
}

Tensor dropout(Operand a, Operand step, double rate, int64_t seed) {
  ops::Dropout attributes;
  attributes.rate = rate;
  attributes.seed = seed;
  return dsl::apply(attributes, {a, step});
}

} // namespace dfc
