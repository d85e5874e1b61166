// Elements that change places: shapes, axes, parts and copies.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

Tensor reshape(Operand a, Dims shape) {
  ops::Reshape attributes;
  attributes.shape = std::move(shape);
  return dsl::apply(std::move(attributes), {a});
}

Tensor cut(Operand a, int64_t axis, std::string_view devices) {
  ops::Cut attributes;
  attributes.axis = axis;
  attributes.devices = devices;
  return dsl::apply(std::move(attributes), {a});
}

Tensor stopGradient(Operand a) { return dsl::apply(ops::StopGradient{}, {a}); }

Tensor transpose(Operand a, Dims permutation) {
  ops::Transpose attributes;
  attributes.permutation = std::move(permutation);
  return dsl::apply(std::move(attributes), {a});
}

Tensor broadcast(Operand a, Dims shape) {
  ops::Broadcast attributes;
  attributes.shape = std::move(shape);
  return dsl::apply(std::move(attributes), {a});
}

Tensor concat(const std::vector<Tensor>& parts, int64_t axis, std::source_location where) {
  ops::Concat attributes;
  attributes.axis = axis;
  llvm::SmallVector<Operand, 4> operands;
  for (const Tensor& part : parts) {
    operands.emplace_back(part, where);
  }
  return dsl::apply(attributes, operands);
}

std::vector<Tensor> split(Operand a, Dims sizes, int64_t axis) {
  ops::Split attributes;
  attributes.sizes = std::move(sizes);
  attributes.axis = axis;
  const size_t count = attributes.sizes.size();
  const std::vector<Tensor> parts = dsl::applySeveral(std::move(attributes), {a}, count);
  return {parts.begin(), parts.end()};
}

Tensor slice(Operand a, Dims starts, Dims ends, Dims strides) {
  ops::Slice attributes;
  attributes.starts = std::move(starts);
  attributes.ends = std::move(ends);
  attributes.strides = std::move(strides);
  return dsl::apply(std::move(attributes), {a});
}

Tensor pad(Operand a, Dims low, Dims high, Dims interior, double value) {
  ops::Pad attributes;
  attributes.low = std::move(low);
  attributes.high = std::move(high);
  attributes.interior = std::move(interior);
  attributes.value = value;
  return dsl::apply(std::move(attributes), {a});
}

Tensor tile(Operand a, Dims repeats) {
  ops::Tile attributes;
  attributes.repeats = std::move(repeats);
  return dsl::apply(std::move(attributes), {a});
}

} // namespace dfc
