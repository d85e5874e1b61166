// ONNX's Resize: an axis after the other, each a product with the matrix of weights that the new elements
// give the old ones, or a gather where each takes one of them. Formulas: ONNX Resize, coordinate
// transformations; Keys 1981 for the cubic weights.
#include "ir/author/dsl.h"
#include "tests/onnx/node_call.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc::test {
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

class Resampling {
 public:
  explicit Resampling(NodeCall& call)
      : call_(call), mode_(call.text("mode", "nearest")),
        coordinates_(call.text("coordinate_transformation_mode",
                               call.op() == "Upsample" ? "asymmetric" : "half_pixel")) {}
  Tensor along(Tensor a, size_t axis, const Axis& lengths) const;

 private:
  Tensor picked(Tensor a, size_t axis, const Axis& lengths) const;
  std::vector<double> weightsOf(const Axis& axis, double place) const;
  Literal weights(const Axis& axis, ElementType element) const;
  NodeCall& call_;
  std::string mode_, coordinates_;
};

Tensor Resampling::picked(Tensor a, size_t axis, const Axis& lengths) const {
  const std::string rounding =
      call_.text("nearest_mode", call_.op() == "Upsample" ? "floor" : "round_prefer_floor");
  std::vector<int64_t> order;
  for (int64_t i = 0; i < lengths.made; ++i) {
    order.push_back(
        std::clamp<int64_t>(nearest(rounding, placeOf(coordinates_, lengths, i)), 0, lengths.from - 1));
  }
  return gather(a, call_.whole(order), static_cast<int64_t>(axis));
}

// Of one new element. What lies outside counts as the edge, or not at all.
std::vector<double> Resampling::weightsOf(const Axis& axis, double place) const {
  const bool exclude = call_.integer("exclude_outside", 0) != 0, cubic = mode_ == "cubic";
  const double a = call_.real("cubic_coeff_a", -0.75);
  std::vector<double> weights(static_cast<size_t>(axis.from));
  const auto floor = static_cast<int64_t>(std::floor(place));
  for (int64_t i = floor - (cubic ? 1 : 0); i <= floor + (cubic ? 2 : 1); ++i) {
    const double distance = place - static_cast<double>(i);
    const int64_t edge = std::clamp<int64_t>(i, 0, axis.from - 1);
    if (edge == i || !exclude) {
      weights[static_cast<size_t>(edge)] += cubic ? cubicWeight(distance, a) : 1 - std::fabs(distance);
    }
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::transform(weights.begin(), weights.end(), weights.begin(), [sum](double w) { return w / sum; });
  return weights;
}

Literal Resampling::weights(const Axis& axis, ElementType element) const {
  Literal matrix(TensorType{element, {axis.made, axis.from}});
  for (int64_t i = 0; i < axis.made; ++i) {
    const double place = placeOf(coordinates_, axis, i);
    if (coordinates_ == "tf_crop_and_resize" && (place < 0 || place > static_cast<double>(axis.from - 1))) {
      throw OutOfScope("a picture continued by a constant");
    }
    const std::vector<double> row = weightsOf(axis, place);
    for (int64_t j = 0; j < axis.from; ++j) {
      matrix.set(i * axis.from + j, row[static_cast<size_t>(j)]);
    }
  }
  return matrix;
}

Tensor Resampling::along(Tensor a, size_t axis, const Axis& lengths) const {
  if (mode_ == "nearest") {
    return picked(a, axis, lengths);
  }
  Dims swapped(a.shape().rank());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[axis], swapped.back());
  const Tensor matrix = call_.constant(weights(lengths, a.type().element));
  return transpose(matmul(transpose(a, swapped), matrix, {.b = true}), swapped);
}

bool given(const NodeCall& call, size_t index) {
  return call.has(index) && call.operand(index).shape().elements() != 0;
}

Axis axisOf(const NodeCall& call, int64_t length, size_t axis, size_t rank) {
  Axis lengths{length, length, 1, 0, 1};
  const auto at = static_cast<int64_t>(axis);
  if (given(call, 3)) {
    lengths.made = call.dims(3)[axis];
    lengths.scale = static_cast<double>(lengths.made) / static_cast<double>(length);
  } else {
    lengths.scale = call.literal(call.op() == "Upsample" ? 1 : 2).at(at);
    lengths.made = static_cast<int64_t>(std::floor(lengths.scale * static_cast<double>(length)));
  }
  if (call.op() != "Upsample" && given(call, 1)) {
    const Literal part = call.literal(1);
    lengths.begin = part.at(at);
    lengths.end = part.at(at + static_cast<int64_t>(rank));
  }
  return lengths;
}

NodeResults resized(NodeCall& call) {
  const Resampling resampling(call);
  Tensor a = call.operand(0);
  for (size_t axis = 0; axis < a.shape().rank(); ++axis) {
    const Axis lengths = axisOf(call, a.shape()[axis], axis, a.shape().rank());
    const bool whole = lengths.begin == 0 && lengths.end == 1;
    a = lengths.scale == 1 && whole ? a : resampling.along(a, axis, lengths);
  }
  return {a};
}

} // namespace

MappingTable resizeMappings() { return {{"Resize", resized}, {"Upsample", resized}}; }

} // namespace dfc::test
