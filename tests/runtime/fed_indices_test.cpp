// Labels and indices out of range in what is fed: refused before a step, with the row, the op and its place.
#include "runtime/indices/fed_indices.h"

#include "ir/author/losses.h"
#include "ir/graph/graph.h"
#include "ir/graph/op.h"
#include "runtime/predict/predict.h"
#include "runtime/training/trainer.h"
#include "tests/runtime/session_support.h"
#include "tests/support/matchers.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

using namespace dfc;
using namespace dfc::test;

namespace {

Literal integers(const Shape& shape, std::initializer_list<int64_t> values) {
  return Literal(shape, std::span<const int64_t>(values.begin(), values.size()));
}

/// The loss of three classes, for two rows; the labels by way of a cast and a reshape.
Graph lossGraph() {
  Builder g("loss");
  const Tensor labels = g.input("labels", {ElementType::I32, {2, 1}});
  g.fetch("loss",
          softmaxCrossEntropy(g.input("logits", f32({2, 3})), reshape(cast(labels, ElementType::I64), {2})));
  return finished(std::move(g));
}

/// Of tokens [2, 4] of a vocabulary of 5: all but the last column are looked up, and the second is a label.
Graph tokensGraph() {
  Builder g("tokens");
  const Tensor tokens = g.input("tokens", {ElementType::I64, {2, 4}});
  const Tensor table = g.parameter("table", f32({5, 3}));
  g.fetch("rows", gather(table, slice(tokens, {0, 0}, {2, 3})));
  g.fetch("loss", softmaxCrossEntropy(g.input("logits", f32({2, 3})),
                                      reshape(slice(transpose(tokens), {1, 0}, {2, 2}), {2})));
  return finished(std::move(g));
}

} // namespace

TEST_CASE("fed labels: one that names no class is refused with row, op and place, unless that is let pass") {
  const auto plan = tinyPlan(lossGraph(), smallMachine(0));
  const auto session = opened(plan);
  const auto feeds = [](std::initializer_list<int32_t> labels) {
    return NamedLiterals{
        {"logits", Literal(f32({2, 3}))},
        {"labels", Literal({2, 1}, std::span<const int32_t>(labels.begin(), labels.size()))}};
  };
  CHECK(session->run(feeds({0, 2})).ok());
  const auto refused = session->run(feeds({0, 3}));
  REQUIRE(refused.errors().size() == 1);
  const Diagnostic& error = refused.errors()[0];
  CHECK_THAT(error.message, startingWith("input 'labels': element [1, 0] is 3, but op '"));
  CHECK_THAT(error.message, containing("has 3 classes, 0 to 2"));
  CHECK_THAT(error.where.file, containing("fed_indices_test.cpp"));
  CHECK(error.where.line > 0);
  CHECK(session->submit(feeds({-1, 0})).errors().size() == 1);
  SessionOptions any;
  any.checkIndices = false;
  CHECK(std::isnan(opened(plan, any)->run(feeds({0, 3})).orThrow().at("loss").at(0)));
}

TEST_CASE("fed indices: only what an op takes is looked at, through slices and transposes") {
  const auto session = opened(tinyPlan(tokensGraph(), smallMachine(0)));
  const auto errors = [&](std::initializer_list<int64_t> tokens) {
    return session->run({{"logits", Literal(f32({2, 3}))}, {"tokens", integers({2, 4}, tokens)}}).errors();
  };
  CHECK(errors({4, 2, -5, 99, 0, 0, 0, -99}).empty()); // the last column is not taken
  const Diagnostics far = errors({0, 0, 0, 0, 0, 0, 5, 0});
  REQUIRE(far.size() == 1);
  CHECK_THAT(far[0].message,
             startingWith("input 'tokens': element [1, 2] is 5, but op 'gather' has 5 slices"));
  const Diagnostics label = errors({0, -1, 0, 0, 0, 0, 0, 0}); // a row from the end, but no label
  REQUIRE(label.size() == 1);
  CHECK_THAT(label[0].message,
             startingWith("input 'tokens': element [0, 1] is -1, but op 'softmaxCrossEntropy' has 3"));
}

TEST_CASE("fed indices: a subview takes the elements from its start on") {
  Builder g("subview");
  const Tensor ids = g.input("ids", {ElementType::I64, {64}});
  ops::Subview half; // 32 elements of 8 bytes are the alignment that it needs
  half.start = 32;
  half.shape = {4, 8};
  g.fetch("rows",
          gather(g.parameter("table", f32({5, 1})), g.op(half, {ids}, std::source_location::current())));
  const Graph graph = finished(std::move(g));
  Literal fed(TensorType{ElementType::I64, {64}});
  fed.set(31, 9);
  CHECK(checkIndices(graph, fedIndicesOf(graph), {{"ids", fed}}).empty());
  fed.set(41, 9);
  const Diagnostics errors = checkIndices(graph, fedIndicesOf(graph), {{"ids", fed}});
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0].message, startingWith("input 'ids': row 41 is 9, but op 'gather' has 5 slices"));
}

namespace {

/// A loss of labels [2, 3] of tokens [2, 4], as a formula.
Graph formulaLoss(const CrossEntropyOptions& options) {
  Builder g("formula");
  const Tensor labels = slice(g.input("tokens", {ElementType::I64, {2, 4}}), {0, 1}, {2, 4});
  g.fetch("loss", softmaxCrossEntropy(g.input("logits", f32({2, 3, 4})), labels, options));
  return finished(std::move(g));
}

} // namespace

TEST_CASE("fed labels of losses that are formulas: refused, but for the label that does not count") {
  const auto row = [](int64_t last) { return integers({2, 4}, {99, 0, 3, 2, 99, 1, 2, last}); };
  for (const std::optional<int64_t> ignored : {std::optional<int64_t>(), {-100}, {-1}, {4}, {-5}, {3}, {0}}) {
    for (const LossReduction reduction : {LossReduction::Mean, LossReduction::Sum, LossReduction::None}) {
      if (!ignored && reduction == LossReduction::Mean) {
        continue; // the op
      }
      CAPTURE(ignored.value_or(99), static_cast<int>(reduction));
      const auto session = opened(tinyPlan(formulaLoss({0.1, ignored, reduction}), smallMachine(0)));
      for (const int64_t label : {0, 3, 4, 5, -1, -2, -4, -5, -6, -100}) {
        const NamedLiterals feeds = {{"logits", Literal(f32({2, 3, 4}))}, {"tokens", row(label)}};
        const Diagnostics errors = session->run(feeds).errors();
        const bool counts = label >= 0 && label < 4; // the first column, of 99, is not taken
        CHECK(errors.size() == (counts || label == ignored ? 0 : 1));
        for (const Diagnostic& error : errors) {
          CHECK_THAT(error.message,
                     startingWith(fmt::format("input 'tokens': element [1, 3] is {}, but op '", label)));
          CHECK_THAT(error.message, containing("has 4 classes, 0 to 3"));
        }
      }
    }
  }
}

TEST_CASE("fed indices: rows of oneHot that the graph masks by itself are meant") {
  Builder g("masked");
  const Tensor y = g.input("y", {ElementType::I64, {3}}), x = g.input("x", f32({3, 4}));
  const Tensor known = compare(y, 0, Direction::Ge) & compare(y, 4, Direction::Lt);
  g.fetch("y", reduceSum(select(known, reduceSum(oneHot(y, 4) * x, {1}), 0)));
  g.fetch("rows", gather(x, select(known, y, 0)));
  CHECK(fedIndicesOf(finished(std::move(g))).empty());
}

TEST_CASE("fed indices: zeros of oneHot are meant, and computed indices are not followed") {
  Builder g("free");
  const Tensor x = g.input("x", {ElementType::I64, {2}});
  g.fetch("hot", oneHot(x, 3));
  g.fetch("clipped", gather(g.parameter("table", f32({3, 1})), max(x, 0)));
  const Graph graph = finished(std::move(g));
  CHECK(fedIndicesOf(graph).empty());
  CHECK(opened(tinyPlan(graph, smallMachine(0)))->run({{"x", integers({2}, {2, -9})}}).ok());
}

TEST_CASE("fed indices: the widest integers are out of range, and no end of a range wraps") {
  const Graph graph = tokensGraph();
  const std::vector<FedIndices> all = fedIndicesOf(graph);
  REQUIRE(all.size() == 1);
  CHECK(all[0].least == 0); // of labels; the gather alone has -5
  CHECK(all[0].end == 3);
  for (const int64_t wide : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    Literal tokens(TensorType{ElementType::I64, {2, 4}});
    tokens.mutableData<int64_t>()[5] = wide;
    CHECK(checkIndices(graph, all, {{"tokens", tokens}}).size() == 1);
  }
}

TEST_CASE("a data set's labels are looked through before the first step, by the rows of the data set") {
  const auto session = opened(tinyPlan(lossGraph(), smallMachine(0)));
  Literal labels(TensorType{ElementType::I32, {7, 1}});
  labels.set(5, 9);
  const NamedLiterals columns = {{"logits", Literal(f32({7, 3}))}, {"labels", labels}};
  Batches batches = Batches::of(columns, 2).orThrow();
  TrainingOptions options;
  feedFrom(batches, options);
  const auto refused = Trainer::start(*session, options);
  REQUIRE(refused.errors().size() == 1);
  CHECK_THAT(refused.errors()[0].message, startingWith("input 'labels': element [5, 0] is 9, but op"));
  labels.set(5, 0);
  labels.set(6, 9); // of the incomplete last batch, which no step takes in the file's order
  const NamedLiterals last = {{"logits", Literal(f32({7, 3}))}, {"labels", labels}};
  Batches ordered = Batches::of(last, 2).orThrow(), shuffled = Batches::of(last, 2, 1).orThrow();
  feedFrom(ordered, options);
  CHECK(Trainer::start(*session, options).ok());
  options.data = &shuffled;
  CHECK(Trainer::start(*session, options).errors().size() == 1);
}

TEST_CASE("predict: labels and ids out of range in any row are refused by the data set's row") {
  Builder g("lookup");
  g.fetch("rows", gather(g.parameter("table", f32({5, 3})), g.input("ids", {ElementType::I32, {4}})));
  const auto session = opened(tinyPlan(finished(std::move(g)), smallMachine(0)));
  Literal ids(TensorType{ElementType::I64, {9}});
  CHECK(predict(*session, {{"ids", ids}}).ok());
  ids.set(8, 5);
  const auto refused = predict(*session, {{"ids", ids}});
  REQUIRE(refused.errors().size() == 1);
  CHECK_THAT(refused.errors()[0].message,
             startingWith("input 'ids': row 8 is 5, but op 'gather' has 5 slices"));
}
