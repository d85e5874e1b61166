// ONNX's Resize: an axis after the other, each a product with the matrix of weights that the new elements
// give the old ones, a gather where each takes one of them, or a weighted sum of gathers where each takes a
// few of many. Formulas: ONNX Resize, coordinate transformations; Keys 1981 for the cubic weights.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc::onnx {
namespace {

/// One axis: `made` elements of `from`, at `scale` new ones for each old one.
struct Axis {
  int64_t from = 1, made = 1;
  double scale = 1, begin = 0, end = 1; ///< the part that tf_crop_and_resize takes
};

// The place among the old elements of a new one.
double placeOf(const std::string& mode, const Axis& axis, int64_t i) {
  const auto at = static_cast<double>(i), last = static_cast<double>(axis.from) - 1;
  if (mode == "align_corners") {
    // The length before it is rounded down, as ONNX's own reference has it.
    const double length = axis.scale * static_cast<double>(axis.from);
    return length == 1 ? 0 : at * last / (length - 1);
  }
  if (mode == "asymmetric") {
    return at / axis.scale;
  }
  if (mode == "tf_half_pixel_for_nn") {
    return (at + 0.5) / axis.scale;
  }
  if (mode == "tf_crop_and_resize") {
    const double span = (axis.end - axis.begin) * last;
    return axis.made > 1 ? axis.begin * last + at * span / static_cast<double>(axis.made - 1)
                         : 0.5 * (axis.begin + axis.end) * last;
  }
  if (mode == "half_pixel_symmetric") { // the centres of both pictures coincide
    const double asked = axis.scale * static_cast<double>(axis.from);
    const double offset = 0.5 * static_cast<double>(axis.from) * (1 - static_cast<double>(axis.made) / asked);
    return offset + (at + 0.5) / axis.scale - 0.5;
  }
  return mode == "pytorch_half_pixel" && axis.made == 1 ? 0 : (at + 0.5) / axis.scale - 0.5;
}

int64_t nearest(const std::string& mode, double place) {
  if (mode == "floor") {
    return static_cast<int64_t>(std::floor(place));
  }
  if (mode == "ceil") {
    return static_cast<int64_t>(std::ceil(place));
  }
  return static_cast<int64_t>(mode == "round_prefer_ceil" ? std::floor(place + 0.5) : std::ceil(place - 0.5));
}

// Keys' kernel at a distance below 2.
double cubicWeight(double distance, double a) {
  const double d = std::fabs(distance);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/// Up to opset 10 there are no attributes that say where the new elements stand, and no part to take.
bool early(const NodeCall& call) { return call.op() == "Upsample" || call.opset() < 11; }

std::string coordinatesOf(const NodeCall& call) {
  return early(call)
             ? "asymmetric"
             : call.choice("coordinate_transformation_mode",
                           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                            "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"});
}

std::string roundingOf(const NodeCall& call) {
  return early(call)
             ? "floor"
             : call.choice("nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

/// Old elements that a new one is made of, at most.
size_t tapsOf(const std::string& mode) { return mode == "cubic" ? 4 : 2; }

class Resampling {
 public:
  explicit Resampling(NodeCall& call)
      : call_(call), mode_(call.choice("mode", {"nearest", "linear", "cubic"})),
        coordinates_(coordinatesOf(call)), rounding_(roundingOf(call)),
        exclude_(call.integer("exclude_outside", 0) != 0), cubic_(call.real("cubic_coeff_a", -0.75)) {}
  Tensor along(Tensor a, size_t axis, const Axis& lengths) const;
  bool takesParts() const { return coordinates_ == "tf_crop_and_resize"; }
  /// `outside` where new elements stand beside the picture along this axis.
  Tensor bounded(Tensor a, size_t axis, const Axis& lengths, double outside) const;

 private:
  double placeAt(const Axis& axis, int64_t i) const;
  bool isOutside(const Axis& axis, int64_t i) const;
  Tensor picked(Tensor a, size_t axis, const Axis& lengths) const;
  std::vector<double> weightsOf(const Axis& axis, double place) const;
  Literal weights(const Axis& axis, ElementType element) const;
  Tensor blended(Tensor a, size_t axis, const Axis& lengths) const;
  NodeCall& call_;
  std::string mode_, coordinates_, rounding_;
  bool exclude_;
  double cubic_;
};

double Resampling::placeAt(const Axis& axis, int64_t i) const {
  const double place = placeOf(coordinates_, axis, i);
  return takesParts() ? std::clamp(place, 0.0, static_cast<double>(std::max<int64_t>(axis.from, 1) - 1))
                      : place;
}

bool Resampling::isOutside(const Axis& axis, int64_t i) const {
  const double place = placeOf(coordinates_, axis, i);
  return takesParts() && (place < 0 || place > static_cast<double>(axis.from - 1));
}

Tensor Resampling::bounded(Tensor a, size_t axis, const Axis& lengths, double outside) const {
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
  return any ? select(call_.constant(mask), outside, a) : a;
}

Tensor Resampling::picked(Tensor a, size_t axis, const Axis& lengths) const {
  std::vector<int64_t> order;
  call_.spend(lengths.made);
  for (int64_t i = 0; i < lengths.made; ++i) {
    order.push_back(std::clamp<int64_t>(nearest(rounding_, placeAt(lengths, i)), 0, lengths.from - 1));
  }
  return gather(a, call_.whole(order), static_cast<int64_t>(axis));
}

// Of one new element. What lies outside counts as the edge, or not at all.
std::vector<double> Resampling::weightsOf(const Axis& axis, double place) const {
  const bool cubic = mode_ == "cubic";
  std::vector<double> weights(static_cast<size_t>(axis.from));
  const auto floor = static_cast<int64_t>(std::floor(place));
  for (int64_t i = floor - (cubic ? 1 : 0); i <= floor + (cubic ? 2 : 1); ++i) {
    const double distance = place - static_cast<double>(i);
    const int64_t edge = std::clamp<int64_t>(i, 0, axis.from - 1);
    if (edge == i || !exclude_) {
      weights[static_cast<size_t>(edge)] += cubic ? cubicWeight(distance, cubic_) : 1 - std::fabs(distance);
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::transform(weights.begin(), weights.end(), weights.begin(), [sum](double w) { return w / sum; });
  return weights;
}

Literal Resampling::weights(const Axis& axis, ElementType element) const {
  call_.spend(axis.made);
  call_.spend(axis.from);
  call_.spend(axis.made * axis.from); // each below 2^25 by now
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
Tensor Resampling::blended(Tensor a, size_t axis, const Axis& lengths) const {
  const size_t taps = tapsOf(mode_), rank = a.shape().rank();
  const int64_t channels = rank > 2 && axis + 1 == rank ? a.shape()[1] : 1;
  call_.spend(lengths.made);
  call_.spend(channels);
  call_.spend(lengths.made * channels * static_cast<int64_t>(taps)); // each below 2^25 by now
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
    const Tensor part =
        gather(a, call_.whole(from[tap]), static_cast<int64_t>(axis)) * call_.constant(weights[tap]);
    sum = tap == 0 ? part : sum + part;
  }
  return sum;
}

Tensor Resampling::along(Tensor a, size_t axis, const Axis& lengths) const {
  if (mode_ == "nearest") {
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
  const Tensor matrix = call_.constant(weights(lengths, a.type().element));
  return transpose(matmul(transpose(a, swapped), matrix, {.b = true}), swapped);
}

// The operand's numbers; none where it is left out or empty.
std::vector<double> numbersOf(const NodeCall& call, size_t index) {
  std::vector<double> numbers;
  if (call.has(index) && call.operand(index).shape().elements() > 0) {
    const Literal literal = call.literal(index);
    call.spend(literal.type().shape.elements());
    for (int64_t i = 0; i < literal.type().shape.elements(); ++i) {
      numbers.push_back(literal.at(i));
    }
  }
  return numbers;
}

/// What a node says of the axes that it resizes, one number for each (`parts`: all begins, then all ends).
struct Resizes {
  Dims axes;
  std::vector<double> scales, sizes, parts;
};

Resizes resizesOf(const NodeCall& call, size_t rank) {
  Resizes resizes;
  resizes.axes.resize(rank);
  std::iota(resizes.axes.begin(), resizes.axes.end(), 0);
  if (early(call)) {
    const bool operand = call.op() == "Resize" || call.opset() >= 9;
    resizes.scales = operand ? numbersOf(call, 1) : call.attribute("scales").reals;
  } else {
    resizes.axes = call.integers("axes", resizes.axes);
    resizes.parts = numbersOf(call, 1);
    resizes.scales = numbersOf(call, 2);
    resizes.sizes = numbersOf(call, 3);
    if (!resizes.sizes.empty() && !resizes.scales.empty()) {
      call.refuse("both scales and sizes");
    }
  }
  for (int64_t& axis : resizes.axes) {
    const std::optional<size_t> normal = normalAxis(axis, rank);
    if (!normal) {
      call.refuse(fmt::format("axis {} of {}", axis, rank));
    }
    axis = static_cast<int64_t>(*normal);
  }
  const size_t axes = resizes.axes.size();
  if ((resizes.sizes.empty() ? resizes.scales : resizes.sizes).size() != axes) {
    call.refuse(
        fmt::format("{} scales and {} sizes for {} axes", resizes.scales.size(), resizes.sizes.size(), axes));
  }
  if (!resizes.parts.empty() && resizes.parts.size() != 2 * axes) {
    call.refuse(fmt::format("a roi of {} numbers for {} axes", resizes.parts.size(), axes));
  }
  return resizes;
}

// The sizes that keep the ratio of the resized axes: one scale for all, the least or the greatest asked for.
void keepRatio(Resizes& resizes, const std::string& policy, const Dims& lengths) {
  if (policy == "stretch" || resizes.sizes.empty()) {
    return;
  }
  std::vector<double> scales;
  for (size_t i = 0; i < resizes.axes.size(); ++i) {
    scales.push_back(resizes.sizes[i] / static_cast<double>(lengths[i]));
  }
  const auto [least, greatest] = std::minmax_element(scales.begin(), scales.end());
  const double scale = policy == "not_larger" ? *least : *greatest;
  resizes.scales.assign(scales.size(), scale);
  for (size_t i = 0; i < scales.size(); ++i) {
    resizes.sizes[i] = std::floor(scale * static_cast<double>(lengths[i]) + 0.5);
  }
}

Axis axisOf(const Resizes& resizes, size_t i, int64_t length) {
  Axis axis{length, length, 1, 0, 1};
  if (resizes.sizes.empty()) {
    axis.scale = resizes.scales[i];
    axis.made =
        static_cast<int64_t>(std::floor(std::clamp(axis.scale * static_cast<double>(length), 0.0, 1e15)));
  } else {
    axis.made = static_cast<int64_t>(std::clamp(resizes.sizes[i], 0.0, 1e15));
    axis.scale = resizes.scales.empty() ? resizes.sizes[i] / static_cast<double>(length) : resizes.scales[i];
  }
  if (!(axis.scale > 0) || axis.made < 0 || length < 1) {
    throw BadFile(fmt::format("an axis of {} resized to {} by {}", length, axis.made, axis.scale));
  }
  if (!resizes.parts.empty()) {
    axis.begin = resizes.parts[i];
    axis.end = resizes.parts[i + resizes.axes.size()];
  }
  constexpr double farthest = 1e15; // places beyond it are no integers
  if (!(std::fabs(axis.begin) <= farthest && std::fabs(axis.end) <= farthest)) {
    throw BadFile(fmt::format("a part of an axis from {} to {}", axis.begin, axis.end));
  }
  return axis;
}

NodeResults resized(NodeCall& call) {
  Tensor a = call.operand(0);
  call.only("antialias", 0);
  const double outside = call.real("extrapolation_value", 0);
  const Resampling resampling(call);
  Resizes resizes = resizesOf(call, a.shape().rank());
  Dims before;
  for (const int64_t axis : resizes.axes) {
    before.push_back(a.shape()[static_cast<size_t>(axis)]);
  }
  keepRatio(resizes, call.choice("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}),
            before);
  for (size_t i = 0; i < before.size(); ++i) {
    const Axis lengths = axisOf(resizes, i, before[i]);
    const bool whole = !resampling.takesParts() || (lengths.begin == 0 && lengths.end == 1);
    a = lengths.scale == 1 && whole ? a : resampling.along(a, static_cast<size_t>(resizes.axes[i]), lengths);
  }
  for (size_t i = 0; i < before.size(); ++i) { // last: an element is outside by any of its axes
    a = resampling.bounded(a, static_cast<size_t>(resizes.axes[i]), axisOf(resizes, i, before[i]), outside);
  }
  return {a};
}

} // namespace

MappingTable resizeMappings() { return {{"Resize", resized}, {"Upsample", resized}}; }

} // namespace dfc::onnx
