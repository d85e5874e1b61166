#include "ir/author/dsl/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc::dsl {
namespace {

// The place among the old elements of a new one.
double placeOf(Coordinates mode, const ResampledAxis& axis, int64_t i) {
  const auto at = static_cast<double>(i), last = static_cast<double>(axis.from) - 1;
  if (mode == Coordinates::AlignCorners) {
    // The length before it is rounded down, as ONNX's own reference has it.
    const double length = axis.scale * static_cast<double>(axis.from);
    return length == 1 ? 0 : at * last / (length - 1);
  }
  if (mode == Coordinates::Asymmetric) {
    return at / axis.scale;
  }
  if (mode == Coordinates::TfHalfPixelForNn) {
    return (at + 0.5) / axis.scale;
  }
  if (mode == Coordinates::TfCropAndResize) {
    const double span = (axis.end - axis.begin) * last;
    return axis.made > 1 ? axis.begin * last + at * span / static_cast<double>(axis.made - 1)
                         : 0.5 * (axis.begin + axis.end) * last;
  }
  if (mode == Coordinates::HalfPixelSymmetric) { // the centres of both pictures coincide
    const double asked = axis.scale * static_cast<double>(axis.from);
    const double offset = 0.5 * static_cast<double>(axis.from) * (1 - static_cast<double>(axis.made) / asked);
    return offset + (at + 0.5) / axis.scale - 0.5;
  }
  return mode == Coordinates::PytorchHalfPixel && axis.made == 1 ? 0 : (at + 0.5) / axis.scale - 0.5;
}

// Coordinates within rounding error of a multiple of 1/2 become that multiple.
double withoutRounding(double place) {
  const double exact = std::round(2 * place) / 2;
  return std::fabs(place - exact) <= 1e-12 * std::max(1.0, std::fabs(place)) ? exact : place;
}

int64_t nearest(NearestRule rule, double place) {
  const double at = withoutRounding(place);
  switch (rule) {
  case NearestRule::Floor: return static_cast<int64_t>(std::floor(at));
  case NearestRule::Ceil: return static_cast<int64_t>(std::ceil(at));
  case NearestRule::RoundPreferCeil: return static_cast<int64_t>(std::floor(at + 0.5));
  case NearestRule::RoundPreferFloor: break;
  }
  return static_cast<int64_t>(std::ceil(at - 0.5));
}

// Keys' kernel at a distance below 2.
double cubicWeight(double distance, double a) {
  const double d = std::fabs(distance);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// Old elements that a new one is made of, at most.
size_t tapsOf(ResizeMethod method) { return method == ResizeMethod::Cubic ? 4 : 2; }

Tensor wholeNumbers(Builder& builder, const std::vector<int64_t>& values) {
  return builder.constant(
      Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

} // namespace

double Resampling::placeAt(const ResampledAxis& axis, int64_t i) const {
  const double place = placeOf(coordinates, axis, i);
  return takesParts() ? std::clamp(place, 0.0, static_cast<double>(std::max<int64_t>(axis.from, 1) - 1))
                      : place;
}

bool Resampling::isOutside(const ResampledAxis& axis, int64_t i) const {
  const double place = placeOf(coordinates, axis, i);
  return takesParts() && (place < 0 || place > static_cast<double>(axis.from - 1));
}

Tensor Resampling::bounded(Tensor a, size_t axis, const ResampledAxis& lengths, double outside) const {
  if (!takesParts()) {
    return a;
  }
  Dims dims(a.shape().rank(), 1);
  dims[axis] = lengths.made;
  Literal mask(TensorType{ElementType::Bool, Shape(dims)});
  bool any = false;
  for (int64_t i = 0; i < lengths.made; ++i) {
    mask.set(i, isOutside(lengths, i) ? 1 : 0);
    any = any || isOutside(lengths, i);
  }
  return any ? select(a.builder()->constant(mask), outside, a) : a;
}

Tensor Resampling::picked(Tensor a, size_t axis, const ResampledAxis& lengths) const {
  std::vector<int64_t> order;
  spend(lengths.made);
  for (int64_t i = 0; i < lengths.made; ++i) {
    order.push_back(std::clamp<int64_t>(nearest(rounding, placeAt(lengths, i)), 0, lengths.from - 1));
  }
  return gather(a, wholeNumbers(*a.builder(), order), static_cast<int64_t>(axis));
}

// Of one new element. What lies outside counts as the edge, or not at all.
std::vector<double> Resampling::weightsOf(const ResampledAxis& axis, double place) const {
  const bool cubic = method == ResizeMethod::Cubic;
  std::vector<double> weights(static_cast<size_t>(axis.from));
  const auto floor = static_cast<int64_t>(std::floor(place));
  for (int64_t i = floor - (cubic ? 1 : 0); i <= floor + (cubic ? 2 : 1); ++i) {
    const double distance = place - static_cast<double>(i);
    const int64_t edge = std::clamp<int64_t>(i, 0, axis.from - 1);
    if (edge == i || !excludeOutside) {
      weights[static_cast<size_t>(edge)] += cubic ? cubicWeight(distance, cubicA) : 1 - std::fabs(distance);
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::transform(weights.begin(), weights.end(), weights.begin(), [sum](double w) { return w / sum; });
  return weights;
}

Literal Resampling::weights(const ResampledAxis& axis, ElementType element) const {
  spend(axis.made);
  spend(axis.from);
  spend(axis.made * axis.from); // each below 2^25 by now
  Literal matrix(TensorType{element, {axis.made, axis.from}});
  for (int64_t i = 0; i < axis.made; ++i) {
    const std::vector<double> row = weightsOf(axis, placeAt(axis, i));
    for (int64_t j = 0; j < axis.from; ++j) {
      matrix.set(i * axis.from + j, row[static_cast<size_t>(j)]);
    }
  }
  return matrix;
}

// The sum of `taps` gathers, each times the weights of its elements. The weights of the last axis are there
// for each channel, so that images with their channels last find them in order. A tap too many has weight 0.
Tensor Resampling::blended(Tensor a, size_t axis, const ResampledAxis& lengths) const {
  const size_t taps = tapsOf(method), rank = a.shape().rank();
  const int64_t channels = rank > 2 && axis + 1 == rank ? a.shape()[1] : 1;
  spend(lengths.made);
  spend(channels);
  spend(lengths.made * channels * static_cast<int64_t>(taps)); // each below 2^25 by now
  Dims shape(rank, 1);
  shape[axis] = lengths.made;
  if (channels > 1) {
    shape[1] = channels;
  }
  std::vector<std::vector<int64_t>> from(taps);
  std::vector<Literal> weights(taps, Literal(TensorType{a.type().element, Shape(shape)}));
  for (int64_t i = 0; i < lengths.made; ++i) {
    const std::vector<double> row = weightsOf(lengths, placeAt(lengths, i));
    const auto used = [](double w) { return w != 0; };
    auto next = std::find_if(row.begin(), row.end(), used);
    const auto first = next == row.end() ? row.begin() : next;
    for (size_t tap = 0; tap < taps; ++tap) {
      const auto taken = next == row.end() ? first : next;
      from[tap].push_back(taken - row.begin());
      for (int64_t channel = 0; channel < channels; ++channel) {
        weights[tap].set(channel * lengths.made + i, next == row.end() ? 0 : *next);
      }
      next = next == row.end() ? next : std::find_if(next + 1, row.end(), used);
    }
  }
  Tensor sum;
  for (size_t tap = 0; tap < taps; ++tap) {
    const Tensor part = gather(a, wholeNumbers(*a.builder(), from[tap]), static_cast<int64_t>(axis)) *
                        a.builder()->constant(weights[tap]);
    sum = tap == 0 ? part : sum + part;
  }
  return sum;
}

Tensor Resampling::along(Tensor a, size_t axis, const ResampledAxis& lengths) const {
  if (method == ResizeMethod::Nearest) {
    return picked(a, axis, lengths);
  }
  constexpr int64_t many = 16; // from here on a product multiplies by zeros for longer than gathers take
  const ElementType element = a.type().element;
  if (lengths.from >= many && (element == ElementType::F32 || element == ElementType::F64)) {
    return blended(a, axis, lengths);
  }
  Dims swapped(a.shape().rank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped.back());
  const Tensor matrix = a.builder()->constant(weights(lengths, a.type().element));
  return transpose(matmul(transpose(a, swapped), matrix, {.b = true}), swapped);
}

} // namespace dfc::dsl
