// ONNX's ops that sample pictures at places that are computed: GridSample (Jaderberg et al. 2015, spatial
// transformers) and RoiAlign (He et al. 2017, Mask R-CNN). A picture is a table of rows, one for each of its
// points with all channels; what a place takes is a weighted sum of a few gathered rows.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace dfc::onnx {
namespace {

/// What one point along one axis gives: its index as a float, and its weight; `inside` where points outside
/// the picture count as 0.
struct Tap {
  Tensor index, weight, inside;
};

/// Pictures [N, C, lengths…] and places, one tensor an axis, of equal shapes.
class Pictures {
 public:
  explicit Pictures(Tensor a) : dims_(dimsOf(a)) {
    Dims order{0};
    for (size_t i = 2; i < dims_.size(); ++i) {
      order.push_back(static_cast<int64_t>(i));
    }
    order.push_back(1);
    table_ = reshape(transpose(a, order), {-1, dims_[1]});
  }
  int64_t length(size_t axis) const { return dims_[2 + axis]; }
  size_t axes() const { return dims_.size() - 2; }
  // The rows [places…, C] of these taps, one an axis, of the picture `number` (i64, broadcasts).
  Tensor at(const std::vector<Tap>& taps, Tensor number) const;
  // The sum over all combinations of taps: taps[axis] has the points along it.
  Tensor sum(const std::vector<std::vector<Tap>>& taps, Tensor number) const;

 private:
  Dims dims_;
  Tensor table_;
};

Tensor withChannels(Tensor a) {
  Dims dims = dimsOf(a);
  dims.push_back(1);
  return reshape(a, dims);
}

Tensor Pictures::at(const std::vector<Tap>& taps, Tensor number) const {
  Tensor row = number, weight, inside;
  for (size_t axis = 0; axis < taps.size(); ++axis) {
    const Tap& tap = taps[axis];
    const auto last = static_cast<double>(length(axis) - 1);
    row = row * static_cast<double>(length(axis)) + cast(clip(tap.index, 0, last), ElementType::I64);
    if (tap.weight.valid()) {
      weight = weight.valid() ? weight * tap.weight : tap.weight;
    }
    if (tap.inside.valid()) {
      inside = inside.valid() ? inside & tap.inside : tap.inside;
    }
  }
  Tensor rows = gather(table_, row);
  rows = inside.valid() ? select(withChannels(inside), rows, 0) : rows;
  return weight.valid() ? rows * withChannels(cast(weight, rows.type().element)) : rows;
}

Tensor Pictures::sum(const std::vector<std::vector<Tap>>& taps, Tensor number) const {
  size_t count = 1;
  for (const std::vector<Tap>& along : taps) {
    count *= along.size();
  }
  Tensor total;
  for (size_t i = 0; i < count; ++i) {
    std::vector<Tap> chosen(taps.size());
    size_t rest = i;
    for (size_t axis = taps.size(); axis-- > 0; rest /= taps[axis].size()) {
      chosen[axis] = taps[axis][rest % taps[axis].size()];
    }
    const Tensor part = at(chosen, number);
    total = total.valid() ? total + part : part;
  }
  return total;
}

// The channels from behind to their axis.
Tensor channelsFirst(Tensor rows) {
  const auto rank = static_cast<int64_t>(rows.shape().rank());
  Dims order{0, rank - 1};
  for (int64_t i = 1; i + 1 < rank; ++i) {
    order.push_back(i);
  }
  return transpose(rows, order);
}

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

// Element `index` of the last axis.
Tensor lastAt(Tensor a, int64_t index) {
  Dims starts(a.shape().rank(), 0), ends = dimsOf(a), dims = ends;
  starts.back() = index;
  ends.back() = index + 1;
  dims.pop_back();
  return reshape(slice(a, starts, ends), dims);
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

/// One axis of RoiAlign: `bins` parts of each region with `samples` places in each.
struct Bins {
  int64_t bins = 1, samples = 1;
};

// The places [regions, bins * samples] along one axis.
Tensor placesIn(NodeCall& call, Tensor begin, Tensor extent, const Bins& bins) {
  const int64_t count = bins.bins * bins.samples;
  const Tensor steps =
      (iota(call.builder(), {begin.type().element, {1, count}}, 1) + 0.5) / static_cast<double>(count);
  return withChannels(begin) + withChannels(extent) * steps;
}

// A place more than 1 outside of the picture gives 0, one that is nearer counts as the border.
std::vector<Tap> regionTaps(Tensor place, int64_t length) {
  const auto size = static_cast<double>(length);
  const Tensor inside = compare(place, -1, Direction::Ge) & compare(place, size, Direction::Le);
  const Tensor at = clip(place, 0, size - 1), below = floor(at), part = at - below;
  return {{below, 1 - part, inside}, {below + 1, part, inside}};
}

struct Regions {
  Tensor x, y, width, height; ///< in elements of the picture
};

Regions regionsOf(NodeCall& call) {
  const bool half = call.opset() >= 16 && call.choice("coordinate_transformation_mode",
                                                      {"half_pixel", "output_half_pixel"}) == "half_pixel";
  const Tensor scaled = call.operandOfRank(1, 2) * call.real("spatial_scale", 1);
  const Tensor corners = half ? scaled - 0.5 : scaled;
  Regions r{lastAt(corners, 0), lastAt(corners, 1), {}, {}};
  r.width = lastAt(corners, 2) - r.x;
  r.height = lastAt(corners, 3) - r.y;
  return half ? r : Regions{r.x, r.y, max(r.width, 1), max(r.height, 1)};
}

Tensor alongAxes(Tensor a, bool rows) {
  const Dims d = dimsOf(a);
  return reshape(a, rows ? Dims{d[0], d[1], 1} : Dims{d[0], 1, d[1]});
}

NodeResults regionsAligned(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 4);
  const int64_t height = call.positive("output_height", 1), width = call.positive("output_width", 1),
                samples = call.integer("sampling_ratio", 0);
  call.choice("mode", {"avg"});
  if (samples < 1) {
    call.refuse("sampling_ratio = 0: how many places a region has would depend on its size");
  }
  call.spend(height);
  call.spend(width);
  call.spend(samples);
  const Regions regions = regionsOf(call);
  const int64_t count = regions.x.shape()[0];
  const Pictures pictures(a);
  std::vector<std::vector<Tap>> taps = {
      regionTaps(placesIn(call, regions.y, regions.height, {height, samples}), pictures.length(0)),
      regionTaps(placesIn(call, regions.x, regions.width, {width, samples}), pictures.length(1))};
  for (size_t axis = 0; axis < 2; ++axis) {
    for (Tap& tap : taps[axis]) {
      tap = {alongAxes(tap.index, axis == 0), alongAxes(tap.weight, axis == 0),
             alongAxes(tap.inside, axis == 0)};
    }
  }
  const Tensor number = reshape(cast(call.operand(2), ElementType::I64), {count, 1, 1});
  const Tensor binned =
      reshape(pictures.sum(taps, number), {count, height, samples, width, samples, a.shape()[1]});
  return {channelsFirst(reduceMean(binned, {2, 4}))};
}

} // namespace

MappingTable samplingMappings() { return {{"GridSample", gridSampled}, {"RoiAlign", regionsAligned}}; }

} // namespace dfc::onnx
