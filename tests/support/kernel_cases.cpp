#include "tests/support/kernel_cases.h"

#include "ir/assert.h"
#include "ir/convolution.h"
#include "ir/op_rules.h"

namespace dfc::test {
namespace {

class Cases {
 public:
  explicit Cases(ElementType element) : element_(element) {}

  TensorType of(Shape shape) const { return {element_, shape}; }

  template <class Op, class Fill>
  void add(std::vector<TensorType> operands, Fill fill) {
    Op op;
    fill(op);
    push(std::move(op), std::move(operands));
  }
  void push(OpAttributes attributes, std::vector<TensorType> operands) {
    if (resultTypes(attributes, operands).ok()) {
      list.push_back({std::move(attributes), std::move(operands)});
    }
  }
  void fused(std::string_view body, std::vector<TensorType> operands,
             ops::Fused::Reduction reduction = ops::Fused::Reduction::None, Dims axes = {}) {
    std::string text(body); // '@' stands for the element type
    for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@')) {
      text.replace(at, 1, name(element_));
    }
    add<ops::Fused>(std::move(operands), [&](ops::Fused& op) {
      DFC_ASSERT(op.body.decode(text), text);
      op.reduction = reduction;
      op.axes = axes;
    });
  }

  std::vector<OpSample> list;

 private:
  ElementType element_;
};

bool computes(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass == OpClass::Elementwise || opClass == OpClass::Reduction || opClass == OpClass::Movement ||
         (opClass == OpClass::Composite && kind != OpKind::FusedMatmul);
}

void addSamples(Cases& cases, ElementType element) {
  for (size_t i = 0; i < opKindCount; ++i) {
    if (computes(static_cast<OpKind>(i))) {
      OpSample sample = sampleOf(static_cast<OpKind>(i), element);
      cases.push(std::move(sample.attributes), std::move(sample.operands));
    }
  }
}

void addElementwise(Cases& cases) {
  const auto of = [&](Shape shape) { return cases.of(shape); };
  const std::vector<std::pair<Shape, Shape>> pairs = {{{}, {}},
                                                      {{0}, {1}},
                                                      {{1}, {1}},
                                                      {{7}, {7}},
                                                      {{1000}, {1000}},
                                                      {{64, 96}, {96}},
                                                      {{64, 96}, {64, 1}},
                                                      {{64, 96}, {}},
                                                      {{5, 1, 7}, {3, 1}},
                                                      {{33, 17}, {17}},
                                                      {{4, 8, 16}, {4, 1, 16}},
                                                      {{3, 1, 2, 1, 3, 1, 2, 4}, {2, 1, 3, 1, 2, 1, 1}}};
  for (const auto& [a, b] : pairs) {
    cases.push(ops::Add{}, {of(a), of(b)});
    cases.push(ops::Maximum{}, {of(b), of(a)});
    cases.push(ops::Select{}, {{ElementType::Bool, a}, of(b), of(a)});
    cases.push(ops::Clip{}, {of(a), of(b), of({})});
    cases.push(ops::LeakyRelu{}, {of(b), of(a)});
    cases.push(ops::Xor{}, {of(a), of(b)});
    cases.push(ops::Compare{{}, ops::Compare::Direction::Ge}, {of(a), of(b)});
  }
  for (const auto approximation : {ops::Gelu::Approximation::None, ops::Gelu::Approximation::Tanh}) {
    cases.add<ops::Gelu>({of({7, 61})}, [&](auto& op) { op.approximate = approximation; });
  }
  for (const ElementType to : allElementTypes) {
    cases.add<ops::Cast>({of({5, 13})}, [&](auto& op) { op.to = to; });
  }
  for (const auto direction : {ops::Compare::Direction::Eq, ops::Compare::Direction::Ne,
                               ops::Compare::Direction::Le, ops::Compare::Direction::Gt}) {
    cases.add<ops::Compare>({of({37}), of({37})}, [&](auto& op) { op.direction = direction; });
  }
  cases.fused("mul:@ %0 %1; add:@ %3 %2; relu:@ %4", {of({64, 40}), of({40}), of({})});
  cases.fused("sub:@ %0 %1; mul:@ %2 %2; compare.gt:bool %3 %0; select:@ %4 %3 %1", {of({9, 5}), of({9, 5})});
  cases.fused("sqrt:@ %0; add:@ %1 %1; neg:@ %2; div:@ %3 %0", {of({77})});
  cases.fused("cast:f32 %0; mul:f32 %1 %1; cast:@ %2", {of({130})});
  cases.fused("abs:@ %0; floor:@ %2; clip:@ %3 %1 %0; leakyRelu:@ %4 %1; round:@ %5; sign:@ %6; sub:@ %6 %7",
              {of({9, 5}), of({5})});
  cases.fused("not:@ %0; and:@ %2 %1; or:@ %3 %0; xor:@ %4 %1", {of({9, 5}), of({5})});
}

void addFolds(Cases& cases, bool large) {
  using Reduction = ops::Fused::Reduction;
  std::vector<std::pair<Shape, std::vector<Dims>>> folds = {
      {{}, {{}}},
      {{1}, {{0}}},
      {{5, 0, 3}, {{1}, {0}}},
      {{6, 1}, {{0}, {1}}},
      {{37}, {{0}}},
      {{5, 8}, {{0}, {1}, {0, 1}}},
      {{300, 3}, {{0}, {1}}},
      {{3, 300}, {{0}, {1}}},
      {{4, 6, 16}, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}},
      {{3, 5, 2, 7, 4}, {{0, 2, 4}, {1, 3}, {0, 3}}},
      {{2, 2, 3, 1, 2, 2, 1, 3}, {{1, 3, 5}, {0, 2, 6, 7}}},
      {{2, 5000}, {{1}}},
      {{700, 64}, {{0}, {1}}}};
  if (large) {
    folds.push_back({{1 << 20}, {{0}}});
    folds.push_back({{1, 999999}, {{1}}});
    folds.push_back({{4000, 48}, {{0}, {0, 1}}});
    folds.push_back({{9000, 3}, {{0}, {1}}});
    folds.push_back({{3, 70000}, {{1}}});
    folds.push_back({{6000, 33}, {{1}}});
    folds.push_back({{40, 1200, 6}, {{1}, {0, 2}}});
    folds.push_back({{5000, 1500}, {{1}}});
  }
  for (const auto& [shape, choices] : folds) {
    for (const Dims& axes : choices) {
      cases.add<ops::ReduceSum>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMean>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMax>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceMin>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      cases.add<ops::ReduceProduct>({cases.of(shape)}, [&](auto& op) { op.axes = axes; });
      if (axes.size() == 1) {
        cases.add<ops::ArgMax>({cases.of(shape)}, [&](auto& op) { op.axis = axes[0]; });
      }
      if (!axes.empty() && shape.rank() >= 2) {
        Dims last(1, shape[shape.rank() - 1]);
        cases.fused("add:@ %0 %1; relu:@ %2", {cases.of(shape), cases.of(Shape(last))}, Reduction::Sum, axes);
        cases.fused("sub:@ %0 %1", {cases.of(shape), cases.of({})}, Reduction::Max, axes);
        cases.fused("mul:@ %0 %0", {cases.of(shape)}, Reduction::Mean, axes);
      }
    }
  }
}

void addRows(Cases& cases, bool large) {
  std::vector<std::pair<Shape, int64_t>> shapes = {
      {{1}, 0},     {{7}, 0},        {{3, 10}, 1},   {{64, 512}, 1}, {{33, 129}, -1}, {{5, 1500}, 1},
      {{40, 3}, 0}, {{6, 9, 16}, 1}, {{2, 7, 5}, 1}, {{2, 7, 5}, 0}, {{0, 4}, 1},     {{300, 8}, 0}};
  if (large) {
    shapes.push_back({{3, 5000}, 1});
    shapes.push_back({{2, 33000}, 1});
    shapes.push_back({{2, 70000}, 1});
    shapes.push_back({{2, 140001}, 1});
    shapes.push_back({{20000, 12}, 1});
  }
  for (const auto& [shape, axis] : shapes) {
    cases.add<ops::Softmax>({cases.of(shape)}, [&, along = axis](auto& op) { op.axis = along; });
    cases.add<ops::LogSoftmax>({cases.of(shape)}, [&, along = axis](auto& op) { op.axis = along; });
    if (shape.rank() == 2) {
      cases.push(ops::SoftmaxCrossEntropy{}, {cases.of(shape), i64({shape[0]})});
      cases.push(ops::SoftmaxCrossEntropyGradient{}, {cases.of(shape), i32({shape[0]}), cases.of({})});
    }
  }
}

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
    const TensorType row = cases.of(Shape(shape.dims().drop_front(static_cast<size_t>(axis))));
    const auto set = [&, along = axis](auto& op) { op.axis = along; };
    cases.add<ops::LayerNorm>({cases.of(shape), row, row}, set);
    cases.add<ops::LayerNorm>({cases.of(shape), row}, set);
    cases.add<ops::RmsNorm>({cases.of(shape), row}, set);
    cases.add<ops::Dropout>({cases.of(shape), i64({})}, [](auto& op) { op.seed = int64_t(7) << 33; });
  }
}

void addIndexing(Cases& cases, bool large) {
  const auto of = [&](Shape shape) { return cases.of(shape); };
  const auto at = [&](Shape whole, Shape indices, int64_t axis) {
    Dims dims(whole.dims().begin(), whole.dims().begin() + axis);
    dims.append(indices.dims().begin(), indices.dims().end());
    dims.append(whole.dims().begin() + axis + 1, whole.dims().end());
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

// A convolution and its two gradients.
struct ConvolutionCase {
  Shape image, filter;
  Dims strides, low, high, dilations;
  int64_t groups = 1;
};

void addConvolution(Cases& cases, const ConvolutionCase& c) {
  ops::Conv2d forward;
  forward.strides = c.strides;
  forward.low = c.low;
  forward.high = c.high;
  forward.dilations = c.dilations;
  forward.groups = c.groups;
  const TensorType image = cases.of(c.image), filter = cases.of(c.filter);
  const TypeResult result = resultTypes(forward, std::vector<TensorType>{image, filter});
  if (!result.ok()) {
    return;
  }
  auto toInput = sameConvolution<ops::Conv2dInputGradient>(forward);
  toInput.shape.assign(c.image.dims().begin(), c.image.dims().end());
  auto toFilter = sameConvolution<ops::Conv2dFilterGradient>(forward);
  toFilter.shape.assign(c.filter.dims().begin(), c.filter.dims().end());
  cases.push(forward, {image, filter});
  cases.push(std::move(toInput), {filter, result.types[0]});
  cases.push(std::move(toFilter), {image, result.types[0]});
}

void addConvolutions(Cases& cases, bool large) {
  std::vector<ConvolutionCase> convolutions = {
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {}, {}, {}, {}, 1},
      {{2, 9, 6, 7}, {10, 9, 3, 2}, {}, {1, 0}, {1, 1}, {}, 1},           // tiles
      {{1, 3, 12, 11}, {34, 3, 3, 3}, {2, 3}, {1, 2}, {0, 1}, {1, 2}, 1}, // few channels
      {{2, 24, 5, 5}, {20, 12, 3, 3}, {1, 2}, {2, 0}, {1, 3}, {2, 1}, 2}, // groups in tiles
      {{2, 6, 9, 8}, {12, 1, 3, 3}, {2, 1}, {1, 1}, {1, 1}, {}, 6},       // depthwise
      {{3, 2, 30, 20}, {2, 1, 2, 2}, {}, {}, {}, {}, 2},                  // sums long enough for a block
      {{4, 16, 12, 12}, {9, 16, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},        // sums cut into pieces
      {{0, 3, 4, 4}, {2, 3, 3, 3}, {}, {}, {}, {}, 1},
      {{2, 0, 4, 4}, {2, 0, 3, 3}, {}, {}, {}, {}, 1},
      {{1, 2, 9, 9}, {2, 2, 2, 2}, {4, 5}, {3, 0}, {0, 3}, {3, 2}, 1}};
  if (large) {
    convolutions.push_back({{2, 16, 72, 72}, {130, 16, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1}); // large tiles
  }
  for (const ConvolutionCase& c : convolutions) {
    addConvolution(cases, c);
  }
}

template <class Op>
Op windowed(const ConvolutionCase& c) { // filter: [.., .., rows, columns] of the window
  Op op;
  op.window = {c.filter[2], c.filter[3]};
  op.strides = c.strides;
  op.low = c.low;
  op.high = c.high;
  return op;
}

void addPools(Cases& cases) {
  const std::vector<ConvolutionCase> pools = {{{2, 3, 6, 7}, {1, 1, 2, 2}, {2, 2}, {}, {}, {}, 1},
                                              {{1, 2, 7, 9}, {1, 1, 3, 3}, {}, {1, 1}, {1, 1}, {}, 1},
                                              {{1, 1, 9, 8}, {1, 1, 3, 2}, {2, 3}, {1, 0}, {2, 1}, {}, 1},
                                              {{2, 1, 8, 9}, {1, 1, 3, 2}, {1, 2}, {2, 0}, {0, 1}, {2, 3}, 1},
                                              {{2, 3, 5, 5}, {1, 1, 5, 5}, {}, {}, {}, {}, 1},
                                              {{0, 3, 4, 4}, {1, 1, 2, 2}, {}, {}, {}, {}, 1}};
  for (const ConvolutionCase& c : pools) {
    const TensorType image = cases.of(c.image);
    auto most = windowed<ops::MaxPool>(c);
    auto mostBack = windowed<ops::MaxPoolGradient>(c);
    most.dilations = mostBack.dilations = c.dilations;
    const TypeResult pooled = resultTypes(most, std::vector<TensorType>{image});
    if (!pooled.ok()) {
      continue;
    }
    cases.push(most, {image});
    cases.push(mostBack, {image, pooled.types[0]});
    if (!c.dilations.empty()) {
      continue;
    }
    for (const bool countPadding : {false, true}) {
      auto mean = windowed<ops::AveragePool>(c);
      auto meanBack = windowed<ops::AveragePoolGradient>(c);
      mean.countPadding = meanBack.countPadding = countPadding;
      meanBack.shape.assign(c.image.dims().begin(), c.image.dims().end());
      cases.push(mean, {image});
      cases.push(meanBack, {pooled.types[0]});
    }
  }
}

void addBatchNorms(Cases& cases, bool large) {
  std::vector<std::pair<Shape, int64_t>> shapes = {
      {{5}, 0},         {{4, 1}, 1},         {{3, 5, 2, 3}, 1}, {{37, 6}, 1},
      {{2, 3, 16}, -2}, {{3, 40, 8, 8}, 1},  {{700, 3}, -1},    {{2, 0, 3}, 1},
      {{6, 2, 9}, 0},   {{2, 2, 90, 60}, 1}, {{1, 300, 4}, 1},  {{9, 4, 1, 1}, 1}};
  if (large) {
    shapes.push_back({{40, 64, 14, 14}, 1});
    shapes.push_back({{70000, 5}, 1});
  }
  for (const auto& [shape, axis] : shapes) {
    const TensorType a = cases.of(shape);
    const TensorType vector = cases.of(Shape{shape[*normalAxis(axis, shape.rank())]});
    const int64_t along = axis;
    const auto set = [&](auto& op) { op.axis = along; };
    cases.add<ops::BatchNorm>({a, vector, vector, vector, vector}, set);
    cases.add<ops::BatchNormTraining>({a, vector, vector}, set);
    cases.add<ops::BatchNormGradient>({a, vector, vector, vector, a}, set);
  }
}

void addWindows(Cases& cases, bool large) {
  addConvolutions(cases, large);
  addPools(cases);
  addBatchNorms(cases, large);
}

} // namespace

std::vector<OpSample> kernelCases(ElementType element, bool large) {
  Cases cases(element);
  addSamples(cases, element);
  addElementwise(cases);
  addFolds(cases, large);
  addRows(cases, large);
  addNorms(cases, large);
  addIndexing(cases, large);
  addMovement(cases, large);
  addWindows(cases, large);
  return std::move(cases.list);
}

std::string describe(const OpSample& sample) {
  return describeCall(kindOf(sample.attributes), sample.operands);
}

} // namespace dfc::test
