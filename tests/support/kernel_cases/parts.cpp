// Calls that are parts of a larger one, by their attributes: where they lie in the whole.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {
namespace {

void addIndexedParts(Cases& cases) {
  for (const AxisPart part : {AxisPart{0, 12}, AxisPart{3, 8}, AxisPart{7, 12}}) {
    for (const Shape& tail : {Shape{5, 1}, Shape{5, 3}, Shape{5, 16}}) {
      cases.add<ops::Gather>({cases.of(tail), i32({21})}, [&](auto& op) { op.part = part; });
      const TensorType updates = cases.of({21, tail[1]});
      cases.add<ops::ScatterAdd>({cases.of(tail), i64({21}), updates}, [&](auto& op) { op.part = part; });
    }
    for (const int64_t axis : {0, -1}) {
      for (const int64_t depth : {5, 4}) {
        cases.add<ops::OneHot>({i64({9, 4})}, [&](auto& op) {
          op.depth = depth;
          op.axis = axis;
          op.to = cases.of({}).element;
          op.part = part;
        });
      }
    }
  }
  cases.add<ops::ScatterAdd>({cases.of({1500}), i32({5000}), cases.of({5000})}, // dealt out to ranges
                             [](auto& op) {
                               op.part = {700, 3000};
                             });
}

// Rows from a whole block of random words on and from within one, columns, both, and more than a tile.
void addDropoutParts(Cases& cases) {
  const std::vector<std::array<Dims, 3>> boxes = {{Dims{3, 8}, Dims{2, 0}, Dims{9, 8}},
                                                  {Dims{3, 7}, Dims{2, 0}, Dims{9, 7}},
                                                  {Dims{9, 5}, Dims{0, 3}, Dims{9, 11}},
                                                  {Dims{2, 3, 4}, Dims{1, 2, 1}, Dims{4, 9, 6}},
                                                  {Dims{37}, Dims{5}, Dims{50}},
                                                  {Dims{40, 70}, Dims{1, 3}, Dims{50, 80}},
                                                  {Dims{3, 1500}, Dims{1, 0}, Dims{5, 1500}}};
  for (const auto& [shape, starts, whole] : boxes) {
    cases.add<ops::Dropout>({cases.of(Shape(shape)), i64({})}, [&](auto& op) {
      op.seed = 11;
      op.part.starts = starts;
      op.part.whole = whole;
    });
  }
}

void addUniformParts(Cases& cases) {
  const std::vector<std::array<Dims, 3>> boxes = {{Dims{3, 8}, Dims{0, 0}, Dims{3, 8}},
                                                  {Dims{3, 8}, Dims{2, 0}, Dims{9, 8}},
                                                  {Dims{9, 5}, Dims{0, 3}, Dims{9, 11}},
                                                  {Dims{37}, Dims{5}, Dims{50}},
                                                  {Dims{3, 1500}, Dims{1, 0}, Dims{5, 1500}}};
  const ElementType element = cases.of({}).element;
  for (const auto& [shape, starts, whole] : boxes) {
    cases.add<ops::RandomUniform>({i64({})}, [&](auto& op) {
      op.type = {element == ElementType::F64 ? ElementType::F64 : ElementType::F32, Shape(shape)};
      op.seed = int64_t(11) << 31;
      op.part.starts = starts;
      op.part.whole = whole;
    });
  }
}

// Queries among more keys than themselves: all of them seen, some, few; tiles of both and ends of tiles.
void addAttentionParts(Cases& cases) {
  for (const int64_t start : {1, 16, 40, 90}) {
    for (const int64_t queries : {5, 33}) {
      const TensorType q = cases.of({2, 4, queries, 16}), k = cases.of({2, 2, 70, 16});
      const TensorType sums{q.element == ElementType::F64 ? ElementType::F64 : ElementType::F32,
                            {2, 4, queries}};
      const auto set = [&](ops::Attention& op) {
        op.causal = true;
        op.start = start;
      };
      cases.add<ops::Attention>({q, k, k}, set);
      cases.add<ops::AttentionGradient>({q, k, k, q, sums, sums}, [&](auto& op) { set(op.forward); });
    }
  }
}

} // namespace

void addParts(Cases& cases) {
  addAttentionParts(cases);
  addIndexedParts(cases);
  addDropoutParts(cases);
  addUniformParts(cases);
  for (const Shape& shape : {Shape{3, 5}, Shape{70, 33}, Shape{9, 2500}}) {
    cases.add<ops::SoftmaxCrossEntropy>({cases.of(shape), i64({shape[0]})}, [](auto& op) { op.rows = 100; });
    cases.add<ops::SoftmaxCrossEntropyGradient>({cases.of(shape), i32({shape[0]}), cases.of({})},
                                                [](auto& op) { op.rows = 100; });
    cases.add<ops::ReduceMean>({cases.of(shape)}, [](auto& op) {
      op.axes = {0};
      op.count = 200;
    });
  }
  for (const int64_t axis : {0, 1}) {
    cases.add<ops::Iota>({}, [&](auto& op) {
      op.type = cases.of({5, 67});
      op.axis = axis;
      op.start = 41;
    });
  }
}

std::vector<OpSample> partCases(ElementType element) {
  Cases cases(element);
  addParts(cases);
  return std::move(cases.list);
}

} // namespace dfc::test
