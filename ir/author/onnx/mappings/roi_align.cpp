// ONNX's RoiAlign (He et al. 2017, Mask R-CNN): the means of parts of regions, at places between the points.
#include "ir/author/onnx/mappings/pictures.h"

namespace dfc::onnx {
namespace {

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

MappingTable roiAlignMapping() { return {{"RoiAlign", regionsAligned}}; }

} // namespace dfc::onnx
