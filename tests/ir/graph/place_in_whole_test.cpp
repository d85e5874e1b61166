// Attributes that say where a part lies in the whole: what the type rules refuse, that a part of a parameter
// starts as that part of the whole does, and that a whole prints as ever.
#include "ir/graph/rules/place_in_whole.h"

#include "ir/author/dsl.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/graph/initialise.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_cases.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

bool accepts(const OpAttributes& attributes, const std::vector<TensorType>& operands) {
  return resultTypes(attributes, operands).ok();
}

bool acceptsGather(AxisPart part) {
  ops::Gather op;
  op.part = part;
  return accepts(op, {f32({5, 2}), i64({3})});
}

bool acceptsDropout(Dims starts, Dims whole) {
  ops::Dropout op;
  op.part.starts = std::move(starts);
  op.part.whole = std::move(whole);
  return accepts(op, {f32({3, 4}), i64({})});
}

} // namespace

TEST_CASE("place in the whole: a part that does not fit is refused") {
  CHECK(acceptsGather({}));
  CHECK(acceptsGather({0, 5}));
  CHECK(acceptsGather({3, 8}));
  CHECK_FALSE(acceptsGather({3, 7})); // 3 + 5 > 7
  CHECK_FALSE(acceptsGather({-1, 8}));
  CHECK_FALSE(acceptsGather({1, 0}));
  ops::Gather ofNothing;
  ofNothing.part = {3, 6};
  CHECK_FALSE(accepts(ofNothing, {f32({0, 2}), i64({2})}));
  CHECK_FALSE(acceptsGather({INT64_MAX, INT64_MAX}));
  CHECK(acceptsDropout({}, {}));
  CHECK(acceptsDropout({1, 0}, {4, 4}));
  CHECK_FALSE(acceptsDropout({2, 0}, {4, 4}));
  CHECK_FALSE(acceptsDropout({0, 0}, {}));
  CHECK_FALSE(acceptsDropout({0}, {12}));
  CHECK_FALSE(acceptsDropout({0, 0}, {INT64_MAX, INT64_MAX}));
  ops::SoftmaxCrossEntropy loss;
  loss.rows = 5;
  CHECK(accepts(loss, {f32({5, 2}), i64({5})}));
  CHECK_FALSE(accepts(loss, {f32({6, 2}), i64({6})}));
  ops::Attention attention;
  attention.start = 3; // of queries that see all keys
  const std::vector<TensorType> rows(3, f32({6, 2}));
  CHECK_FALSE(accepts(attention, rows));
  attention.causal = true;
  CHECK(accepts(attention, rows));
  attention.start = -1;
  CHECK_FALSE(accepts(attention, rows));
  ops::ReduceMean mean;
  for (const int64_t count : {-1, 1, 5}) { // of 6 elements here
    mean.count = count;
    CHECK_FALSE(accepts(mean, {f32({6})}));
  }
  mean.count = 6;
  CHECK(accepts(mean, {f32({6})}));
  ops::Iota iota;
  iota.type = i64({3});
  iota.start = INT64_MAX - 1;
  CHECK_FALSE(accepts(iota, {}));
  iota.start = INT64_MIN;
  CHECK_FALSE(accepts(iota, {}));
}

TEST_CASE("place in the whole: a part of a parameter starts as the whole does there") {
  using Kind = ops::Parameter::Initialiser;
  for (const Kind kind : {Kind::Uniform, Kind::Normal, Kind::Glorot, Kind::HeNormal, Kind::HeUniform}) {
    for (const ElementType element :
         {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
      ops::Parameter whole;
      whole.type = {element, {5, 6, 3}};
      whole.initialiser = kind;
      whole.b = 1;
      whole.seed = 9;
      const Literal expected = sliced(sliced(initialise(whole), 0, {1, 4}), 2, {1, 3});
      ops::Parameter part = whole;
      part.type.shape = {3, 6, 2};
      part.part.starts = {1, 0, 1};
      part.part.whole = {5, 6, 3};
      REQUIRE(accepts(part, {}));
      CHECK(initialise(part) == expected);
      CHECK(part.part.valueIn(initialise(whole), part.type.shape) == expected);
    }
  }
}

TEST_CASE("place in the whole: printed where it is said, and read back") {
  Builder g("parts");
  const std::vector<OpSample> samples = partCases(ElementType::F32);
  for (size_t c = 0; c < samples.size(); ++c) {
    std::vector<Tensor> given;
    for (size_t i = 0; i < samples[c].operands.size(); ++i) {
      given.push_back(g.input(fmt::format("x{}_{}", c, i), samples[c].operands[i]));
    }
    g.fetch(fmt::format("y{}", c),
            g.multiOp(samples[c].attributes, given, std::source_location::current())[0]);
  }
  for (const bool file : {false, true}) {
    ops::Parameter parameter;
    parameter.type = f32({3, 2});
    parameter.initialiser = file ? ops::Parameter::Initialiser::File : ops::Parameter::Initialiser::Glorot;
    parameter.file = file ? "w.npy" : "";
    parameter.part.starts = {1, 0};
    parameter.part.whole = {5, 2};
    const std::string name = file ? "read" : "drawn";
    g.fetch(name, g.op(parameter, {}, std::source_location::current()).named(name));
  }
  const Graph graph = *std::move(g).finish();
  const std::string text = printGraph(graph);
  const Result<Graph> back = parseGraph(text, "parts.dfg");
  REQUIRE(back.ok());
  CHECK(printGraph(*back) == text);
  for (const char* name : {"drawn", "read"}) {
    const auto& parameter = (*back)[(*back)[back->findValue(name)].producer].as<ops::Parameter>();
    CHECK(parameter.part.starts == Dims{1, 0});
    CHECK(parameter.part.whole == Dims{5, 2});
  }
  CHECK(text.find("start=") != std::string::npos);
  CHECK(text.find("rows=100") != std::string::npos);

  Builder plain("wholes");
  const Tensor table = plain.input("table", f32({4, 3}));
  plain.fetch("rows", gather(table, plain.input("ids", i64({2})), 0));
  plain.fetch("kept", dropout(table, plain.input("step", i64({})), 0.5, 1));
  plain.fetch("mean", reduceMean(table, {0}));
  plain.fetch("loss", softmaxCrossEntropy(table, plain.input("labels", i64({4}))));
  plain.fetch("weights", plain.parameter("w", f32({4, 3}), glorot(1)));
  const std::string wholes = printGraph(*std::move(plain).finish());
  for (const char* attribute : {"start", "whole=", "count", "rows="}) {
    CHECK(wholes.find(attribute) == std::string::npos);
  }
}

} // namespace dfc::test
