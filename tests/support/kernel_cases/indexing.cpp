// Calls of ops that go by indices: gather, scatterAdd, oneHot, topK, and by places: split, tile, cumSum.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {

void addIndexing(Cases& cases, bool large) {
  const auto of = [&](Shape shape) { return cases.of(shape); };
  const auto at = [&](Shape whole, Shape indices, int64_t axis) {
    Dims dims(whole.dims().begin(), whole.dims().begin() + axis);
    dims.insert(dims.end(), indices.dims().begin(), indices.dims().end());
    dims.insert(dims.end(), whole.dims().begin() + axis + 1, whole.dims().end());
    cases.add<ops::Gather>({of(whole), i32(indices)}, [&](auto& op) { op.axis = axis; });
    cases.add<ops::ScatterAdd>({of(whole), i64(indices), of(Shape(dims))}, [&](auto& op) { op.axis = axis; });
  };
  at({9}, {}, 0);
  at({9}, {20}, 0);
  at({40, 16}, {3, 5}, 0);
  at({5, 7, 3}, {4}, 1);
  at({6, 10}, {8}, 1);
  at({6, 10}, {12}, 1);
  at({700, 1}, {300}, 0);
  at({3, 2000}, {5}, 0);
  at({0, 3}, {2}, 0);
  at({4, 3}, {0}, 0);
  at({1500}, {5000}, 0); // dealt out to ranges
  for (const int64_t axis : {0, 1, -1}) {
    for (const int64_t depth : {1, 7, 16}) {
      cases.add<ops::OneHot>({i64({5, 4})}, [&](auto& op) {
        op.depth = depth;
        op.axis = axis;
        op.to = of({}).element;
      });
    }
    cases.add<ops::Iota>({}, [&](auto& op) {
      op.type = of({5, 67});
      op.axis = axis;
    });
  }
  const auto box = [&](Shape whole, Shape part, Dims axes, TensorType starts) {
    cases.add<ops::DynamicSlice>({of(whole), starts}, [&](auto& op) {
      op.axes = axes;
      for (const int64_t axis : axes) {
        op.sizes.push_back(part[static_cast<size_t>(axis)]);
      }
    });
    cases.add<ops::DynamicUpdateSlice>({of(whole), of(part), starts}, [&](auto& op) { op.axes = axes; });
  };
  box({9}, {4}, {0}, i32({}));
  box({9}, {9}, {0}, i64({1}));
  box({9}, {0}, {0}, i64({1}));
  box({3, 40, 16}, {3, 1, 16}, {1}, i64({}));
  box({3, 40, 7}, {3, 5, 7}, {1}, i32({}));
  box({5, 7, 3, 8}, {5, 2, 3, 3}, {3, 1}, i64({2}));
  box({20, 33}, {3, 32}, {0, 1}, i32({2}));
  box({4, 700, 64}, {4, 90, 64}, {1}, i64({}));
  box({0, 3}, {0, 2}, {1}, i64({}));
  for (const int64_t k : {0, 1, -2, 100, -100}) {
    for (const bool upper : {false, true}) {
      cases.add<ops::Trilu>({of({3, 5, 16})}, [&](auto& op) { op.k = k, op.upper = upper; });
      cases.add<ops::Trilu>({of({6, 7})}, [&](auto& op) { op.k = k, op.upper = upper; });
    }
  }
  const auto tile = [&](Shape shape, Dims repeats) {
    cases.add<ops::Tile>({of(shape)}, [&](auto& op) { op.repeats = repeats; });
  };
  tile({}, {});
  tile({5}, {40});
  tile({16}, {3});
  tile({1, 7}, {30, 1});
  tile({3, 8}, {2, 3});
  tile({2, 3, 4}, {1, 5, 2});
  tile({2, 3}, {0, 2});
  const auto split = [&](Shape shape, Dims sizes, int64_t axis) {
    cases.add<ops::Split>({of(shape)}, [&](auto& op) {
      op.sizes = sizes;
      op.axis = axis;
    });
  };
  split({9}, {9}, 0);
  split({96}, {16, 32, 48}, 0);
  split({76}, {5, 0, 7, 64}, 0);
  split({40, 48}, {16, 32}, 1);
  split({9, 8}, {3, 4, 1}, -1);
  split({3, 7, 8}, {2, 5}, 1);
  split({140, 3}, Dims(70, 2), 0);
  for (const auto& [shape, axis] : std::vector<std::pair<Shape, int64_t>>{{{1}, 0},
                                                                          {{37}, 0},
                                                                          {{5, 1000}, 1},
                                                                          {{3, 257}, 1},
                                                                          {{300, 3}, 0},
                                                                          {{4, 6, 16}, 1},
                                                                          {{2, 33000}, 1},
                                                                          {{5, 0, 3}, 1},
                                                                          {{70000, 2}, 0},
                                                                          {{2, 40000}, 1}}) {
    if (large || shape.elements() < 10000) {
      for (const bool exclusive : {false, true}) {
        for (const bool reverse : {false, true}) {
          cases.add<ops::CumSum>({of(shape)}, [&, along = axis](auto& op) {
            op.axis = along;
            op.exclusive = exclusive;
            op.reverse = reverse;
          });
        }
      }
    }
  }
  const auto topK = [&](Shape shape, int64_t k, int64_t axis) {
    for (const bool largest : {true, false}) {
      cases.add<ops::TopK>({of(shape)}, [&](auto& op) {
        op.k = k;
        op.axis = axis;
        op.largest = largest;
      });
    }
  };
  topK({1}, 1, 0);
  topK({9, 64}, 2, 1);
  topK({20, 9}, 4, 0);
  topK({4, 9}, 0, 1);
  topK({3, 300}, 7, -1);
  topK({2, 1000}, 1000, -1);
  topK({400, 3}, 60, 0);
  if (large) {
    topK({2, 50000}, 50, 1);
    topK({1, 9000}, 5000, 1);
    at({50, 1200}, {6000}, 0);
  }
}

} // namespace dfc::test
