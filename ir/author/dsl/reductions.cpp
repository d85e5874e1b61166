// Reductions along axes, running sums, places of extremes.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

namespace {

template <class Reduction>
Tensor reduce(const Operand& a, Dims&& axes, bool keepDims) {
  Reduction attributes;
  attributes.axes = std::move(axes);
  attributes.keepDims = keepDims;
  return dsl::apply(std::move(attributes), {a});
}

} // namespace

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
  return dsl::apply(attributes, {a});
}

Tensor argMax(Operand a, int64_t axis, bool keepDims) {
  ops::ArgMax attributes;
  attributes.axis = axis;
  attributes.keepDims = keepDims;
  return dsl::apply(attributes, {a});
}

TopK topK(Operand a, int64_t k, int64_t axis, bool largest) {
  ops::TopK attributes;
  attributes.k = k;
  attributes.axis = axis;
  attributes.largest = largest;
  const std::vector<Tensor> results = dsl::applySeveral(attributes, {a}, 2);
  return {results[0], results[1]};
}

} // namespace dfc
