// Indexing (gather, scatterAdd, slices at computed offsets), and tensors of indices and random numbers.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

Tensor gather(Operand a, Operand indices, int64_t axis) {
  ops::Gather attributes;
  attributes.axis = axis;
  return dsl::apply(attributes, {a, indices});
}

Tensor scatterAdd(Operand a, Operand indices, Operand updates, int64_t axis) {
  ops::ScatterAdd attributes;
  attributes.axis = axis;
  return dsl::apply(attributes, {a, indices, updates});
}

Tensor oneHot(Operand indices, int64_t depth, int64_t axis, ElementType to) {
  ops::OneHot attributes;
  attributes.depth = depth;
  attributes.axis = axis;
  attributes.to = to;
  return dsl::apply(attributes, {indices});
}

Tensor dynamicSlice(Operand a, Operand starts, Dims sizes, Dims axes) {
  ops::DynamicSlice attributes;
  attributes.sizes = std::move(sizes);
  attributes.axes = std::move(axes);
  return dsl::apply(std::move(attributes), {a, starts});
}

Tensor dynamicUpdateSlice(Operand a, Operand update, Operand starts, Dims axes) {
  ops::DynamicUpdateSlice attributes;
  attributes.axes = std::move(axes);
  return dsl::apply(std::move(attributes), {a, update, starts});
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
  return dsl::apply(attributes, {a});
}

Tensor randomUniform(Operand step, const TensorType& type, int64_t seed) {
  ops::RandomUniform attributes;
  attributes.type = type;
  attributes.seed = seed;
  return dsl::apply(std::move(attributes), {step});
}

} // namespace dfc
