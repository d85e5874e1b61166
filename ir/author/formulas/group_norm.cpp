// Normalisation of groups of channels: four axes, whatever those of the operand.
#include "ir/author/composites.h"

#include <fmt/format.h>

namespace dfc {
namespace {

// Why these are no groups of the operand's channels, and the way out; empty where they are.
std::pair<std::string, std::string> wrongGroups(const TensorType& type, int64_t groups) {
  if (type.shape.rank() < 2 || !isFloat(type.element)) {
    return {fmt::format("groupNorm of {}", toString(type)), "give floats of [batch, channels, …]"};
  }
  if (groups < 1 || type.shape[1] % groups != 0) {
    return {fmt::format("groupNorm of {}: {} groups of {} channels", toString(type), groups, type.shape[1]),
            "give a number of groups that divides the channels"};
  }
  return {};
}

} // namespace

Tensor groupNorm(Operand a, Operand scale, Operand bias, int64_t groups, double epsilon) {
  const Tensor* tensor = a.tensor();
  if (tensor == nullptr || tensor->builder() == nullptr || !tensor->valid()) {
    return tensor == nullptr ? Tensor() : *tensor;
  }
  Builder& builder = *tensor->builder();
  if (auto [why, hint] = wrongGroups(tensor->type(), groups); !why.empty()) {
    builder.report(a.where(), why, hint);
    return {&builder, {}};
  }
  const auto place = builder.at(builder.locate(a.where()));
  const Shape& shape = tensor->shape();
  int64_t inner = 1;
  for (size_t axis = 2; axis < shape.rank(); ++axis) {
    inner *= shape[axis];
  }
  const Dims line{1, groups, shape[1] / groups, 1};
  const Tensor whole = reshape(a, {shape[0], groups, shape[1] / groups, inner});
  const Tensor centred = whole - reduceMean(whole, {2, 3}, true);
  const Tensor normal = centred * rsqrt(reduceMean(centred * centred, {2, 3}, true) + epsilon);
  return reshape(normal * reshape(scale, line) + reshape(bias, line),
                 Dims(shape.dims().begin(), shape.dims().end()));
}

} // namespace dfc
