// Movement and indexing.
#include "ir/base/assert.h"
#include "tests/compiler/split/larger_samples.h"

namespace dfc::test {
namespace {

std::vector<OpSample> reshapes(ElementType element) {
  const std::vector<std::pair<Shape, Dims>> forms = {
      {{10, 3}, {30}},           {{30}, {10, 3}},        {{6, 4}, {4, 6}},   {{4, 6, 5}, {24, 5}},
      {{2, 5, 6}, {2, 5, 2, 3}}, {{5, 1, 6}, {1, 5, 6}}, {{12, 5}, {6, 10}}, {{8, 3, 5}, {4, 6, 5}},
      {{6, 10, 4}, {60, 2, 2}},  {{1}, {1, 1}}};
  std::vector<OpSample> samples;
  for (const auto& [from, to] : forms) {
    samples.push_back(sampleWith<ops::Reshape>({{element, from}}, [&](auto& op) { op.shape = to; }));
  }
  return samples;
}

std::vector<OpSample> pads(ElementType element) {
  const auto pad = [&](Dims low, Dims high, Dims interior, double value) {
    return sampleWith<ops::Pad>({{element, {3, 4}}}, [&](auto& op) {
      op.low = low;
      op.high = high;
      op.interior = interior;
      op.value = value;
    });
  };
  return {pad({6, 1}, {0, 7}, {}, 1), pad({0, 2}, {3, 0}, {2, 4}, 0), pad({0, 0}, {0, 0}, {0, 0}, 0)};
}

std::vector<OpSample> slices(ElementType element) {
  const auto slice = [&](Dims starts, Dims ends, Dims strides) {
    return sampleWith<ops::Slice>({{element, {9, 20}}}, [&](auto& op) {
      op.starts = starts;
      op.ends = ends;
      op.strides = strides;
    });
  };
  return {slice({0, 0}, {9, 20}, {}), slice({2, 3}, {8, 20}, {1, 3}), slice({1, 0}, {9, 19}, {2, 4})};
}

std::vector<OpSample> gathers(ElementType element) {
  const auto gather = [&](int64_t axis, Shape indices, AxisPart part) {
    return sampleWith<ops::Gather>({{element, {5, 6, 7}}, i32(indices)}, [&](auto& op) {
      op.axis = axis;
      op.part = part;
    });
  };
  return {gather(0, {8}, {}), gather(1, {3, 5}, {}), gather(-1, {}, {}), gather(2, {6}, {3, 20})};
}

std::vector<OpSample> scatters(ElementType element) {
  const auto scatter = [&](int64_t axis, Shape indices, Shape updates, AxisPart part) {
    return sampleWith<ops::ScatterAdd>({{element, {5, 6}}, i64(indices), {element, updates}}, [&](auto& op) {
      op.axis = axis;
      op.part = part;
    });
  };
  return {scatter(0, {7}, {7, 6}, {}), scatter(1, {3, 5}, {5, 3, 5}, {}), scatter(-1, {}, {5}, {}),
          scatter(0, {7}, {7, 6}, {2, 9})};
}

std::vector<OpSample> dynamicSlices(ElementType element) {
  const auto slice = [&](Dims axes, Dims sizes, TensorType starts) {
    return sampleWith<ops::DynamicSlice>({{element, {5, 6, 7}}, starts}, [&](auto& op) {
      op.axes = axes;
      op.sizes = sizes;
    });
  };
  return {slice({1}, {2}, i64({})), slice({2, 0}, {7, 3}, i32({2})), slice({}, {2, 2, 2}, i64({3}))};
}

std::vector<OpSample> dynamicUpdates(ElementType element) {
  const auto update = [&](Dims axes, Shape shape, TensorType starts) {
    return sampleWith<ops::DynamicUpdateSlice>({{element, {5, 6, 7}}, {element, shape}, starts},
                                               [&](auto& op) { op.axes = axes; });
  };
  return {update({1}, {5, 2, 7}, i64({})), update({-1, 0}, {3, 6, 7}, i32({2})),
          update({}, {2, 2, 2}, i64({3}))};
}

std::vector<OpSample> oneHots(ElementType element) {
  std::vector<OpSample> samples;
  for (const int64_t axis : {0, 1, -1}) {
    samples.push_back(sampleWith<ops::OneHot>({i64({5, 6})}, [&](auto& op) {
      op.depth = 7;
      op.axis = axis;
      op.to = element;
      op.part = axis == 1 ? AxisPart{2, 10} : AxisPart{};
    }));
  }
  return samples;
}

std::vector<OpSample> iotas(ElementType element) {
  std::vector<OpSample> samples;
  for (const int64_t axis : {0, -1}) {
    samples.push_back(sampleWith<ops::Iota>({}, [&](auto& op) {
      op.type = {element, {5, 6}};
      op.axis = axis;
      op.start = axis == 0 ? 0 : 4;
    }));
  }
  return samples;
}

std::vector<OpSample> trilus(ElementType element) {
  std::vector<OpSample> samples;
  for (const int64_t k : {-2, 0, 1}) {
    for (const bool upper : {false, true}) {
      samples.push_back(sampleWith<ops::Trilu>({{element, {2, 5, 6}}}, [&](auto& op) {
        op.k = k;
        op.upper = upper;
      }));
    }
  }
  return samples;
}

} // namespace

std::vector<OpSample> largerMovementSamples(OpKind kind, ElementType element) {
  const TensorType cube{element, {5, 6, 7}};
  switch (kind) {
  case OpKind::Reshape: return reshapes(element);
  case OpKind::StopGradient: return {{ops::StopGradient{}, {cube}}};
  case OpKind::Cut:
    return {sampleWith<ops::Cut>({cube}, [](auto& op) {
      op.axis = -1;
      op.devices = "gpu*";
    })};
  case OpKind::Transpose:
    return {{ops::Transpose{}, {cube}}, sampleWith<ops::Transpose>({cube}, [](auto& op) {
              op.permutation = {1, 0, 2};
            })};
  case OpKind::Broadcast:
    return {sampleWith<ops::Broadcast>({{element, {6, 1}}}, [](auto& op) { op.shape = {5, 6, 7}; })};
  case OpKind::Concat:
    return {sampleWith<ops::Concat>({cube, {element, {5, 1, 7}}, {element, {5, 4, 7}}},
                                    [](auto& op) { op.axis = 1; }),
            {ops::Concat{}, {{element, {1}}, {element, {6}}, {element, {1}}, {element, {1}}}}};
  case OpKind::Split:
    return {sampleWith<ops::Split>({cube},
                                   [](auto& op) {
                                     op.sizes = {1, 0, 4, 2};
                                     op.axis = 2;
                                   }),
            sampleWith<ops::Split>({cube}, [](auto& op) {
              op.sizes = {1, 4};
            })};
  case OpKind::Slice: return slices(element);
  case OpKind::Pad: return pads(element);
  case OpKind::Tile:
    return {sampleWith<ops::Tile>({{element, {3, 5}}},
                                  [](auto& op) {
                                    op.repeats = {6, 1};
                                  }),
            sampleWith<ops::Tile>({{element, {1, 2}}}, [](auto& op) {
              op.repeats = {5, 5};
            })};
  case OpKind::Gather: return gathers(element);
  case OpKind::ScatterAdd: return scatters(element);
  case OpKind::DynamicSlice: return dynamicSlices(element);
  case OpKind::DynamicUpdateSlice: return dynamicUpdates(element);
  case OpKind::OneHot: return oneHots(element);
  case OpKind::Iota: return iotas(element);
  case OpKind::Trilu: return trilus(element);
  default: DFC_UNREACHABLE("no movement");
  }
}

} // namespace dfc::test
