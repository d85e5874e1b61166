// Calls of ops that only move elements: transpose, concat, slice, pad.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {

void addMovement(Cases& cases, bool large) {
  const auto of = [&](Shape shape) { return cases.of(shape); };
  const std::vector<std::pair<Shape, Dims>> transposes = {
      {{}, {}},
      {{5}, {0}},
      {{1, 7}, {1, 0}},
      {{20, 33}, {1, 0}},
      {{64, 64}, {1, 0}},
      {{128, 256}, {1, 0}},
      {{130, 70}, {1, 0}},
      {{300, 3}, {1, 0}},
      {{2, 3, 64}, {1, 0, 2}},
      {{4, 36, 5, 40}, {0, 3, 2, 1}},
      {{2, 32, 3, 32}, {3, 2, 1, 0}},
      {{2, 3, 2, 2, 3, 1, 2, 3}, {7, 1, 6, 3, 4, 5, 2, 0}},
      {{6, 20, 24}, {2, 0, 1}},
      {{0, 3}, {1, 0}}};
  for (const auto& [shape, permutation] : transposes) {
    cases.add<ops::Transpose>({of(shape)}, [&, chosen = permutation](auto& op) { op.permutation = chosen; });
  }
  cases.add<ops::Broadcast>({of({})}, [](auto& op) { op.shape = {50, 3}; });
  cases.add<ops::Broadcast>({of({16, 1})}, [](auto& op) { op.shape = {3, 16, 32}; });
  cases.add<ops::Broadcast>({of({5, 1, 9})}, [](auto& op) { op.shape = {5, 7, 9}; });
  cases.add<ops::Broadcast>({of({64})}, [](auto& op) { op.shape = {31, 64}; });
  const auto concat = [&](std::vector<Shape> shapes, int64_t axis) {
    std::vector<TensorType> operands;
    for (const Shape& shape : shapes) {
      operands.push_back(of(shape));
    }
    cases.add<ops::Concat>(operands, [&](auto& op) { op.axis = axis; });
  };
  concat({{5}}, 0);
  concat({{16}, {32}, {48}}, 0);
  concat({{5}, {0}, {7}, {64}}, 0);
  concat({{40, 16}, {40, 32}}, 1);
  concat({{9, 3}, {9, 4}, {9, 1}}, -1);
  concat({{3, 2, 8}, {3, 5, 8}}, 1);
  concat(std::vector<Shape>(large ? 150 : 70, Shape{2, 3}), 0);
  const auto slice = [&](Shape shape, Dims starts, Dims ends, Dims strides) {
    cases.add<ops::Slice>({of(shape)}, [&](auto& op) {
      op.starts = starts;
      op.ends = ends;
      op.strides = strides;
    });
  };
  slice({}, {}, {}, {});
  slice({100}, {16}, {80}, {});
  slice({100}, {3}, {90}, {});
  slice({100}, {3}, {90}, {5});
  slice({40, 64}, {8, 16}, {40, 48}, {});
  slice({40, 64}, {8, 0}, {40, 64}, {3, 1});
  slice({40, 64}, {1, 3}, {40, 60}, {2, 4});
  slice({6, 7, 8}, {1, 0, 0}, {5, 7, 8}, {});
  slice({6, 7}, {2, 3}, {2, 5}, {});
  const auto pad = [&](Shape shape, Dims low, Dims high, Dims interior, double value) {
    cases.add<ops::Pad>({of(shape)}, [&](auto& op) {
      op.low = low;
      op.high = high;
      op.interior = interior;
      op.value = value;
    });
  };
  pad({}, {}, {}, {}, 1);
  pad({7}, {0}, {0}, {}, 1);
  pad({7}, {2}, {3}, {4}, 1);
  pad({12, 16}, {1, 16}, {2, 32}, {}, 0);
  pad({12, 16}, {1, 0}, {2, 0}, {3, 0}, 1);
  pad({5, 6, 16}, {1, 0, 0}, {0, 0, 0}, {}, 1);
  pad({5, 6, 7}, {1, 2, 3}, {3, 2, 1}, {1, 0, 2}, 1);
  pad({0, 3}, {2, 1}, {2, 1}, {}, 1);
  pad({1, 3}, {2, 1}, {2, 1}, {5, 0}, 1);
  if (large) {
    cases.push(ops::Relu{}, {of({1000003})});
    cases.push(ops::Neg{}, {of({1 << 20})});
    cases.push(ops::Add{}, {of({1 << 10, 1 << 10}), of({1 << 10})});
    concat({{600000}, {600000}}, 0);
    cases.add<ops::Transpose>({of({1000, 1100})}, [](auto&) {});
  }
}

} // namespace dfc::test
