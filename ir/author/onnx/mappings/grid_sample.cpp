// ONNX's GridSample (Jaderberg et al. 2015, spatial transformers): pictures at the places of a grid.
#include "ir/author/onnx/mappings/pictures.h"

#include <fmt/format.h>

namespace dfc::onnx {
namespace {

// Folded back at both borders until it lies between them, as between two mirrors.
Tensor reflected(Tensor place, double least, double most) {
  if (most <= least) {
    return 0 * place;
  }
  const double turn = 2 * (most - least);
  const Tensor from = abs(place - least), rest = from - turn * floor(from / turn);
  return least + min(rest, turn - rest);
}

/// How GridSample reads its grid.
class GridSampling {
 public:
  explicit GridSampling(const NodeCall& call)
      : mode_(call.opset() < 20 ? call.choice("mode", {"bilinear", "nearest", "bicubic"})
                                : call.choice("mode", {"linear", "nearest", "cubic"})),
        padding_(call.choice("padding_mode", {"zeros", "border", "reflection"})),
        aligned_(call.integer("align_corners", 0) != 0) {}
  bool cubic() const { return mode_ == "bicubic" || mode_ == "cubic"; }
  // What the coordinates in [-1, 1] take along an axis.
  std::vector<Tap> taps(Tensor coordinates, int64_t length) const;

 private:
  Tensor bounded(Tensor place, int64_t length) const;
  Tap tap(Tensor index, Tensor weight, int64_t length) const;
  std::string mode_, padding_;
  bool aligned_;
};

// Places behind the border brought back, as the padding has it.
Tensor GridSampling::bounded(Tensor place, int64_t length) const {
  const auto last = static_cast<double>(length - 1);
  if (padding_ == "border") {
    return clip(place, 0, last);
  }
  if (padding_ == "reflection") {
    return aligned_ ? reflected(place, 0, last) : reflected(place, -0.5, last + 0.5);
  }
  return place;
}

Tap GridSampling::tap(Tensor index, Tensor weight, int64_t length) const {
  if (padding_ != "zeros") {
    return {index, weight, {}};
  }
  return {index, weight,
          compare(index, 0, Direction::Ge) & compare(index, static_cast<double>(length - 1), Direction::Le)};
}

// Keys 1981 with a = -0.75; `distance` is at least 0 and at most 2.
Tensor cubicWeight(Tensor distance, bool near) {
  constexpr double a = -0.75;
  const Tensor d = distance;
  return near ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

std::vector<Tap> GridSampling::taps(Tensor coordinates, int64_t length) const {
  const auto size = static_cast<double>(length);
  const Tensor place = aligned_ ? (coordinates + 1) * ((size - 1) / 2) : ((coordinates + 1) * size - 1) * 0.5;
  if (mode_ == "nearest") {
    return {tap(round(bounded(place, length)), {}, length)};
  }
  if (!cubic()) {
    const Tensor at = bounded(place, length), below = floor(at), part = at - below;
    return {tap(below, 1 - part, length), tap(below + 1, part, length)};
  }
  std::vector<Tap> all; // each of the four points is brought back, not the place
  const Tensor below = floor(place), part = place - below;
  for (const int step : {-1, 0, 1, 2}) {
    const Tensor distance = step <= 0 ? part - step : step - part;
    all.push_back(tap(bounded(below + step, length), cubicWeight(distance, step == 0 || step == 1), length));
  }
  return all;
}

NodeResults gridSampled(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 3), grid = call.operandOfRank(1, 3);
  const Pictures pictures(a);
  const size_t axes = pictures.axes();
  if (grid.shape().rank() != axes + 2 || grid.shape()[axes + 1] != static_cast<int64_t>(axes) ||
      grid.shape()[0] != a.shape()[0] || a.shape().elements() == 0) {
    call.refuse(fmt::format("a grid of shape {} for {}", toString(grid.shape()), toString(a.shape())));
  }
  const GridSampling sampling(call);
  if (axes > 3 || (sampling.cubic() && axes != 2)) {
    call.refuse(fmt::format("pictures of {} axes in this mode", axes));
  }
  std::vector<std::vector<Tap>> taps(axes);
  for (size_t axis = 0; axis < axes; ++axis) { // the grid has the last axis first
    taps[axis] = sampling.taps(lastAt(grid, static_cast<int64_t>(axes - 1 - axis)), pictures.length(axis));
  }
  Dims line(axes + 1, 1);
  line[0] = a.shape()[0];
  return {channelsFirst(pictures.sum(taps, iota(call.builder(), i64(Shape(line)))))};
}

} // namespace

MappingTable gridSampleMapping() { return {{"GridSample", gridSampled}}; }

} // namespace dfc::onnx
