// Gradients of the indexing, ordering and normalising ops against central differences, where the walk over
// the op table does not reach: every result of an op with several, negative and repeated indices, ties,
// zeros, ranks of eight, and every axis.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

using namespace dfc;
using test::checkDifferences;

namespace {

Tensor places(const Tensor& like, const Shape& shape, const std::vector<int64_t>& values) {
  return like.builder()->constant(Literal(shape, std::span<const int64_t>(values)));
}

Literal doubles(const std::vector<double>& values) {
  return Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const double>(values));
}

// d reduceSum(f(x) w) / d x with w = 1, 2, 3, … at x.
std::vector<double> derivativeAt(const std::vector<double>& at, const std::function<Tensor(Tensor)>& f) {
  Builder g;
  const Tensor x = g.input("x", f64({static_cast<int64_t>(at.size())}));
  const Tensor y = f(x);
  Literal weights(y.type());
  for (int64_t i = 0; i < weights.type().shape.elements(); ++i) {
    weights.set(i, static_cast<double>(i + 1));
  }
  g.fetch("derivative", gradients(reduceSum(y * g.constant(weights)), {x})[0]);
  const Result<Graph> graph = std::move(g).finish();
  INFO(render(graph.errors()));
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, {{"x", doubles(at)}});
  REQUIRE(values.ok());
  std::vector<double> derivative;
  for (size_t i = 0; i < at.size(); ++i) {
    derivative.push_back(values->fetches.at("derivative").at(static_cast<int64_t>(i)));
  }
  return derivative;
}

} // namespace

TEST_CASE("gradients: dynamicSlice and dynamicUpdateSlice, starts that are clamped included") {
  for (const int64_t start : {-3, 1, 9}) {
    checkDifferences(
        [&](const auto& x) { return exp(dynamicSlice(x[0], places(x[0], {}, {start}), {2}, {1})); },
        {f64({2, 4, 2})});
    checkDifferences(
        [&](const auto& x) {
          return exp(dynamicUpdateSlice(x[0], x[1], places(x[0], {2}, {start, 0}), {1, 0}));
        },
        {f64({3, 4}), f64({1, 2})});
  }
}

TEST_CASE("gradients: gather and scatterAdd along every axis, places counted from either end") {
  for (const int64_t axis : {0, 1, 2, -1}) {
    for (const int order : {1, 2}) {
      checkDifferences(
          [&](const auto& x) {
            return exp(gather(x[0], places(x[0], {2, 2}, {1, -1, 1, 0}), axis));
          },
          {f64({2, 3, 2})}, order);
    }
  }
  checkDifferences(
      [](const auto& x) {
        return exp(scatterAdd(x[0], places(x[0], {3}, {1, -1, 1}), x[1], 1)) * x[0];
      },
      {f64({2, 3}), f64({2, 3})}, 2);
}

TEST_CASE("gradients: slices are added to what other users of the table gave it") {
  const auto tied = [](const std::vector<Tensor>& x) {
    const Tensor rows = gather(x[0], places(x[0], {3}, {1, -1, 1}));
    return exp(matmul(rows, x[0], {.b = true})) + reduceSum(gather(x[0], places(x[0], {2}, {0, 0})));
  };
  checkDifferences(tied, {f64({4, 2})}, 1);
  checkDifferences(tied, {f64({4, 2})}, 2);

  const auto scattersOn = [](const char* pinOfGather) {
    Builder g;
    const Tensor table = g.parameter("table", f32({6, 4})).on("gpu0");
    const Tensor ids = g.input("ids", i64({3}));
    const Tensor rows = gather(table, ids).on(pinOfGather);
    const Tensor loss = reduceSum(matmul(rows, table, {.b = true}).on("gpu0")).on("gpu0");
    g.fetch("gradient", gradients(loss, {table})[0]);
    const Result<Graph> graph = std::move(g).finish();
    REQUIRE(graph.ok());
    REQUIRE(graph->opsOf(OpKind::ScatterAdd).size() == 1);
    const OpRow& scatter = (*graph)[graph->opsOf(OpKind::ScatterAdd).front()];
    return (*graph)[(*graph)[scatter.operands[0]].producer].kind();
  };
  CHECK(scattersOn("gpu0") == OpKind::Matmul);
  CHECK(scattersOn("gpu1") == OpKind::Broadcast); // the sum is made where the table is
}

TEST_CASE("gradients: an update that is added nowhere gets zero, and a slice never taken too") {
  Builder g;
  const Tensor x = g.input("x", f64({2})), u = g.input("u", f64({3}));
  const Tensor sum = reduceSum(exp(scatterAdd(x, places(x, {3}, {1, 2, -3}), u)));
  g.fetch("u", gradients(sum, {u})[0]);
  g.fetch("x", gradients(reduceSum(gather(x, places(x, {2}, {1, 1}))), {x})[0]);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, {{"x", doubles({0, 0})}, {"u", doubles({0, 5, 5})}});
  REQUIRE(values.ok());
  CHECK(values->fetches.at("u") == doubles({1, 0, 0}));
  CHECK(values->fetches.at("x") == doubles({0, 2}));
}

TEST_CASE("gradients: split and topK, whichever results are used") {
  checkDifferences(
      [](const auto& x) {
        const std::vector<Tensor> parts = split(x[0], {1, 2, 1}, 1);
        return exp(parts[1]) * parts[0]; // nothing of the last
      },
      {f64({3, 4})}, 2);
  for (const bool largest : {true, false}) {
    for (const int64_t axis : {0, 1, 2}) {
      checkDifferences([&](const auto& x) { return exp(topK(x[0], 2, axis, largest).values); },
                       {f64({3, 2, 4})}, axis == 1 ? 2 : 1);
    }
  }
  checkDifferences(
      [](const auto& x) {
        const TopK best = topK(x[0], 2);
        return best.values * cast(best.indices + 1, ElementType::F64);
      },
      {f64({5})});
  checkDifferences([](const auto& x) { return exp(topK(x[0], 1, 3).values); },
                   {f64({1, 2, 1, 3, 1, 2, 1, 1})});
}

TEST_CASE("gradients: tile with any axes tiled, up to eight") {
  checkDifferences([](const auto& x) { return exp(tile(x[0], {2, 1, 3})); }, {f64({2, 3, 1})}, 2);
  checkDifferences([](const auto& x) { return exp(tile(x[0], {1, 1})); }, {f64({2, 3})});
  checkDifferences(
      [](const auto& x) {
        return exp(tile(x[0], {2, 1, 1, 2, 1, 2, 2, 1}));
      },
      {f64({1, 2, 1, 2, 1, 1, 2, 1})});
  checkDifferences(
      [](const auto& x) {
        return exp(tile(x[0], {2, 2, 2, 2, 2, 2, 2, 2}));
      },
      {f64({1, 1, 2, 1, 1, 1, 1, 1})});
  checkDifferences([](const auto& x) { return tile(x[0], {2, 0}); }, {f64({1, 2})});
}

TEST_CASE("gradients: trilu, cumSum and reductions over every axis") {
  for (const int64_t k : {-1, 0, 2, 9}) {
    checkDifferences([&](const auto& x) { return exp(trilu(x[0], k, k != 2)); }, {f64({2, 3, 4})});
  }
  for (const int64_t axis : {0, 1, -1}) {
    for (const Running way :
         {Running{false, false}, Running{true, false}, Running{false, true}, Running{true, true}}) {
      checkDifferences([&](const auto& x) { return exp(cumSum(x[0], axis, way) * 0.3); }, {f64({2, 3, 2})},
                       2);
    }
    for (const bool keepDims : {false, true}) {
      checkDifferences([&](const auto& x) { return exp(reduceMin(x[0], {axis}, keepDims)); },
                       {f64({2, 3, 2})});
      checkDifferences([&](const auto& x) { return tanh(reduceProduct(x[0], {axis}, keepDims)); },
                       {f64({2, 3, 2})}, 2);
    }
  }
  checkDifferences([](const auto& x) { return reduceProduct(x[0]); }, {f64({2, 3})}, 2);
}

TEST_CASE("gradients: of a product with zeros, and of equal smallest elements") {
  const auto product = [](Tensor x) { return reshape(reduceProduct(x), {1}); };
  CHECK(derivativeAt({2, 3, 4}, product) == std::vector<double>{12, 8, 6});
  CHECK(derivativeAt({2, 0, 4}, product) == std::vector<double>{0, 8, 0}); // the others' product for the zero
  CHECK(derivativeAt({0, 5, -0.0}, product) == std::vector<double>{0, 0, 0});
  CHECK(derivativeAt({2, 1, 1}, [](Tensor x) { return reshape(reduceMin(x), {1}); }) ==
        std::vector<double>{0, 0.5, 0.5});
}

TEST_CASE("gradients: layerNorm and rmsNorm over any last axes, with and without a bias") {
  for (const int64_t axis : {0, 1, -1}) {
    const Shape whole{2, 3, 2};
    const Shape row(dimRange(whole).drop_front(static_cast<size_t>(axis < 0 ? 2 : axis)));
    const int order = axis == 1 ? 2 : 1;
    checkDifferences([&](const auto& x) { return tanh(layerNorm(x[0], x[1], x[2], axis, 0.1)); },
                     {f64(whole), f64(row), f64(row)}, order);
    checkDifferences([&](const auto& x) { return tanh(rmsNorm(x[0], x[1], axis, 0.1)); },
                     {f64(whole), f64(row)}, order);
    checkDifferences(
        [&](const auto& x) {
          ops::LayerNorm op;
          op.axis = axis;
          return tanh(x[0].builder()->op(op, {x[0], x[1]}, std::source_location::current()));
        },
        {f64(whole), f64(row)});
  }
}

TEST_CASE("gradients: dropout drops the gradient where it dropped the element") {
  checkDifferences(
      [](const auto& x) { return tanh(dropout(x[0], x[0].builder()->scalar(ElementType::I64, 3), 0.4, 5)); },
      {f64({3, 7})}, 2);
}

TEST_CASE("gradients: the backward pass of a norm is one op, and computes what is asked for") {
  Builder g;
  const Tensor x = g.input("x", f32({3, 4})), scale = g.parameter("scale", f32({4})),
               bias = g.parameter("bias", f32({4}));
  const Tensor weights = g.input("weights", f32({3, 4}));
  // The ops that the gradients add, and the results of the op of this kind among them; 0 without one.
  const auto added = [&](const Tensor& y, const std::vector<Tensor>& wrt, OpKind kind) {
    const Graph& graph = g.graph().soFar();
    const Tensor loss = reduceSum(y * weights);
    const size_t before = graph.ops().size();
    (void)gradients(loss, wrt);
    std::pair<size_t, size_t> counts{graph.ops().size() - before, 0};
    for (const OpId op : graph.ops()) {
      counts.second += op.index() >= before && graph[op].kind() == kind ? graph[op].results().size() : 0;
    }
    return counts;
  };
  const auto ofNorm = [&](const std::vector<Tensor>& wrt) {
    return added(layerNorm(x, scale, bias), wrt, OpKind::LayerNormGradient);
  };
  const size_t ofLoss = added(exp(x), {x}, OpKind::Exp).first - 1; // exp's gradient is one op, too
  CHECK(ofNorm({x, scale, bias}) == std::pair(ofLoss + 1, size_t{3}));
  CHECK(ofNorm({x}) == std::pair(ofLoss + 1, size_t{1}));
  CHECK(ofNorm({x, bias}) == std::pair(ofLoss + 1, size_t{2}));
  CHECK(ofNorm({scale}) == std::pair(ofLoss + 1, size_t{2}));
  CHECK(ofNorm({bias}) == std::pair(ofLoss + 1, size_t{0})); // a sum
  CHECK(added(rmsNorm(x, scale), {x, scale}, OpKind::RmsNormGradient) == std::pair(ofLoss + 1, size_t{2}));
  CHECK(added(rmsNorm(x, scale), {x}, OpKind::RmsNormGradient) == std::pair(ofLoss + 1, size_t{1}));
}

TEST_CASE("gradients: in bf16 the norms are differentiated in f32 and rounded once") {
  Builder g;
  const TensorType half{ElementType::BF16, {2, 8}}, row{ElementType::BF16, {8}};
  const Tensor x = g.input("x", half), scale = g.input("scale", row), bias = g.input("bias", row);
  const auto derivatives = gradients(reduceSum(layerNorm(x, scale, bias)), {x, scale, bias});
  CHECK(derivatives[0].type() == half);
  CHECK(derivatives[1].type() == row);
  CHECK(derivatives[2].type() == row);
  const Graph& graph = g.graph().soFar();
  for (const OpId op : graph.ops()) { // no sum is taken in bf16
    if (graph[op].kind() == OpKind::ReduceMean) {
      CHECK(graph.typeOf(graph[op].firstResult).element == ElementType::F32);
    }
  }
}
