// Layers that are convolutions.
#include "ir/author/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc {

bool Layers::areGroups(std::string_view what, std::string_view name, Tensor x, int64_t to, int64_t groups,
                       std::source_location where) {
  if (groups > 0 && x.shape()[1] % groups == 0 && to % groups == 0) {
    return true;
  }
  g_->report(where,
             fmt::format("{} '{}' of {} channels to {} in {} groups", what, name, x.shape()[1], to, groups),
             "give a number of groups that divides the channels on both sides");
  return false;
}

// Plus a number for each channel.
Tensor Layers::withBias(std::string_view name, Tensor x) {
  Dims dims(x.shape().rank() - 1, 1);
  dims[0] = x.shape()[1];
  return x + reshape(parameter(fmt::format("{}.bias", name), {x.shape()[1]}, zeros()), dims);
}

// Of one axis as of pictures of height 1.
Tensor Layers::convolution(std::string_view name, Tensor x, int64_t to, int64_t size,
                           const ConvolutionOptions& options, std::source_location where) {
  if (!fits("convolution", name, x, 3, 4, where) ||
      !areGroups("convolution", name, x, to, options.groups, where)) {
    return {g_, {}};
  }
  const bool flat = x.shape().rank() == 3;
  if (options.causal && !flat) {
    g_->report(where, fmt::format("convolution '{}' of {} is causal", name, toString(x.type())),
               "give [batch, channels, length]");
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t from = x.shape()[1] / options.groups;
  const Shape shape = flat ? Shape{to, from, size} : Shape{to, from, size, size};
  const Tensor filter =
      parameter(fmt::format("{}.weight", name), shape, options.start.value_or(heNormal(nextSeed())));
  const int64_t reach = options.dilation * (size - 1), around = options.padding.value_or((reach + 1) / 2);
  const int64_t before = options.causal ? options.padding.value_or(reach) : around,
                behind = options.causal ? 0 : around;
  const auto ofAxes = [&](int64_t rows, int64_t columns) { return Dims{flat ? rows : columns, columns}; };
  const Window window{.strides = ofAxes(1, options.stride),
                      .low = ofAxes(0, before),
                      .high = ofAxes(0, behind),
                      .dilations = ofAxes(1, options.dilation)};
  const Shape& in = x.shape();
  const Tensor picture = flat ? reshape(x, {in[0], in[1], 1, in[2]}) : x;
  Tensor result =
      conv2d(picture, flat ? reshape(filter, {to, from, 1, size}) : filter, window, options.groups);
  if (flat && result.valid()) {
    result = reshape(result, {result.shape()[0], to, result.shape()[3]});
  }
  return options.bias ? withBias(name, result) : result;
}

Tensor Layers::transposedConvolution(std::string_view name, Tensor x, int64_t to, int64_t size,
                                     const TransposedConvolutionOptions& options,
                                     std::source_location where) {
  if (!fits("transposed convolution", name, x, 4, 4, where) ||
      !areGroups("transposed convolution", name, x, to, options.groups, where)) {
    return {g_, {}};
  }
  const auto place = g_->at(g_->locate(where));
  const int64_t from = x.shape()[1];
  const double spread = static_cast<double>(size) / static_cast<double>(std::max<int64_t>(options.stride, 1));
  const double terms = static_cast<double>(from / options.groups) * spread * spread;
  const Initialiser start = options.start.value_or(normal(0, std::sqrt(2 / terms), nextSeed()));
  const Tensor filter =
      parameter(fmt::format("{}.weight", name), {from, to / options.groups, size, size}, start);
  const Tensor result = convTranspose2d(x, filter,
                                        {.strides = {options.stride, options.stride},
                                         .low = {options.padding, options.padding},
                                         .high = {options.padding, options.padding}},
                                        {options.outputPadding, options.outputPadding}, options.groups);
  return options.bias && result.valid() ? withBias(name, result) : result;
}

} // namespace dfc
