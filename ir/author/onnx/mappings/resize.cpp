// ONNX's Resize and Upsample: which axes become how long, and the options of the resampling of each
// (ir/author/dsl/resample.h).
#include "ir/author/dsl.h"
#include "ir/author/dsl/resample.h"
#include "ir/author/onnx/node_call.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc::onnx {
namespace {

using Axis = dsl::ResampledAxis;
using dsl::Coordinates;
using dsl::NearestRule;
using dsl::Resampling;

/// Up to opset 10 there are no attributes that say where the new elements stand, and no part to take.
bool early(const NodeCall& call) { return call.op() == "Upsample" || call.opset() < 11; }

// The value of the enumeration that has its values in the order of `names`.
template <class Values>
Values chosen(const NodeCall& call, const char* attribute, std::initializer_list<std::string_view> names) {
  const std::string word = call.choice(attribute, names);
  return static_cast<Values>(std::find(names.begin(), names.end(), word) - names.begin());
}

Coordinates coordinatesOf(const NodeCall& call) {
  return early(call) ? Coordinates::Asymmetric
                     : chosen<Coordinates>(call, "coordinate_transformation_mode",
                                           {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                            "align_corners", "asymmetric", "tf_half_pixel_for_nn",
                                            "tf_crop_and_resize"});
}

NearestRule roundingOf(const NodeCall& call) {
  return early(call) ? NearestRule::Floor
                     : chosen<NearestRule>(call, "nearest_mode",
                                           {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
}

Resampling resamplingOf(const NodeCall& call) {
  Resampling how;
  how.method = chosen<ResizeMethod>(call, "mode", {"nearest", "linear", "cubic"});
  how.coordinates = coordinatesOf(call);
  how.rounding = roundingOf(call);
  how.excludeOutside = call.integer("exclude_outside", 0) != 0;
  how.cubicA = call.real("cubic_coeff_a", -0.75);
  how.spend = [&call](int64_t count) { call.spend(count); };
  return how;
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
  const auto elements = [](double asked) { // 0 for what is no number
    return asked > 0 ? static_cast<int64_t>(std::floor(std::min(asked, 1e15))) : 0;
  };
  if (resizes.sizes.empty()) {
    axis.scale = resizes.scales[i];
    axis.made = elements(axis.scale * static_cast<double>(length));
  } else {
    axis.made = elements(resizes.sizes[i]);
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
  const Resampling resampling = resamplingOf(call);
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
