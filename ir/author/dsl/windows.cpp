// Convolution and pools.
#include "ir/author/dsl.h"
#include "ir/author/dsl/apply.h"

namespace dfc {

namespace {

// What every op over windows has.
template <class Op>
void setWindow(Op& attributes, Window&& window) {
  attributes.strides = std::move(window.strides);
  attributes.low = std::move(window.low);
  attributes.high = std::move(window.high);
}

} // namespace

Tensor conv2d(Operand a, Operand filter, Window window, int64_t groups, Precision precision) {
  ops::Conv2d attributes;
  attributes.dilations = std::move(window.dilations);
  setWindow(attributes, std::move(window));
  attributes.groups = groups;
  attributes.precision = precision;
  return dsl::apply(std::move(attributes), {a, filter});
}

Tensor maxPool(Operand a, Dims size, Window window) {
  ops::MaxPool attributes;
  attributes.window = std::move(size);
  attributes.dilations = std::move(window.dilations);
  setWindow(attributes, std::move(window));
  return dsl::apply(std::move(attributes), {a});
}

Tensor averagePool(Operand a, Dims size, Window window, bool countPadding) {
  ops::AveragePool attributes;
  attributes.window = std::move(size);
  attributes.countPadding = countPadding;
  setWindow(attributes, std::move(window));
  return dsl::apply(std::move(attributes), {a});
}

} // namespace dfc
