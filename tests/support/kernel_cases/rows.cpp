// Calls of ops that work along an axis or over channels: softmax, cross-entropy, normalisations, dropout.
#include "tests/support/kernel_cases/cases.h"

namespace dfc::test {
namespace {

void addSoftmaxes(Cases& cases, bool large) {
  std::vector<std::pair<Shape, int64_t>> shapes = {
      {{1}, 0},       {{7}, 0},      {{3, 10}, 1},    {{64, 512}, 1},   {{33, 129}, -1},
      {{5, 1500}, 1}, {{40, 3}, 0},  {{6, 9, 16}, 1}, {{2, 7, 5}, 1},   {{2, 7, 5}, 0},
      {{0, 4}, 1},    {{300, 8}, 0}, {{2100, 4}, 0},  {{1, 2500, 3}, 1}}; // more along the axis than a block
                                                                          // holds
  // Long rows, each aligned otherwise.
  shapes.push_back({{4, 8209}, 1});
  if (large) {
    shapes.push_back({{3, 5000}, 1});
    shapes.push_back({{2, 33000}, 1});
    shapes.push_back({{2, 70000}, 1});
    shapes.push_back({{2, 140001}, 1});
    shapes.push_back({{20000, 12}, 1});
    shapes.push_back({{600, 1024}, 0});
    shapes.push_back({{2, 3000, 96}, 1}); // several slabs, the last of them not full
    shapes.push_back({{3, 2200, 70}, 1});
  }
  for (const auto& [shape, axis] : shapes) {
    cases.add<ops::Softmax>({cases.of(shape)}, [&, along = axis](auto& op) { op.axis = along; });
    cases.add<ops::LogSoftmax>({cases.of(shape)}, [&, along = axis](auto& op) { op.axis = along; });
    if (shape.rank() == 2) {
      cases.push(ops::SoftmaxCrossEntropy{}, {cases.of(shape), i64({shape[0]})});
      cases.push(ops::SoftmaxCrossEntropyGradient{}, {cases.of(shape), i32({shape[0]}), cases.of({})});
      if (byteWidth(cases.of({}).element) == 2) { // the loss in f32
        cases.add<ops::SoftmaxCrossEntropy>({cases.of(shape), i32({shape[0]})},
                                            [](auto& op) { op.loss = LossType::F32; });
        cases.push(ops::SoftmaxCrossEntropyGradient{}, {cases.of(shape), i64({shape[0]}), f32({})});
      }
    }
  }
}

void addNorms(Cases& cases, bool large) {
  std::vector<std::pair<Shape, int64_t>> shapes = {{{1}, 0},        {{7}, 0},       {{3, 10}, 1},
                                                   {{64, 512}, 1},  {{33, 129}, 1}, {{5, 1500}, 1},
                                                   {{2, 3, 20}, 1}, {{0, 4}, 1},    {{300, 8}, 1}};
  if (large) {
    shapes.push_back({{2, 33000}, 1});
    shapes.push_back({{2, 140001}, 1});
    shapes.push_back({{20000, 12}, 1});
  }
  for (const auto& [shape, axis] : shapes) {
    const TensorType row = cases.of(Shape(dimRange(shape).drop_front(static_cast<size_t>(axis))));
    const auto set = [&, along = axis](auto& op) { op.axis = along; };
    cases.add<ops::LayerNorm>({cases.of(shape), row, row}, set);
    cases.add<ops::LayerNorm>({cases.of(shape), row}, set);
    cases.add<ops::RmsNorm>({cases.of(shape), row}, set);
    cases.add<ops::LayerNormGradient>({cases.of(shape), row, cases.of(shape)}, set);
    cases.add<ops::LayerNormGradient>({cases.of(shape), row, cases.of(shape)}, [&](auto& op) {
      set(op);
      op.toScale = op.toBias = false;
    });
    cases.add<ops::RmsNormGradient>({cases.of(shape), row, cases.of(shape)}, set);
    if (row.element == ElementType::F32 &&
        shape[0] > 30) { // a type more to read or write: few shapes suffice
      cases.add<ops::LayerNorm>({cases.of(shape), row, row}, [&](auto& op) {
        set(op);
        op.result = NormResult::Bf16;
      });
      cases.add<ops::RmsNorm>({cases.of(shape), row}, [&](auto& op) {
        set(op);
        op.result = NormResult::F16;
      });
      cases.add<ops::LayerNormGradient>({cases.of(shape), row, {ElementType::BF16, shape}}, set);
      cases.add<ops::RmsNormGradient>({cases.of(shape), row, {ElementType::F16, shape}}, set);
    }
    cases.add<ops::Dropout>({cases.of(shape), i64({})}, [](auto& op) { op.seed = int64_t(7) << 33; });
  }
}

} // namespace

void addRows(Cases& cases, bool large) {
  addSoftmaxes(cases, large);
  addNorms(cases, large);
}

} // namespace dfc::test
