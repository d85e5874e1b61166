// The two rules of what a kernel may overwrite with its result, the planner's and the verifier's: over all
// ops and fused forms the planner allows nothing that the verifier does not, and the verifier's own answers.
#include "ir/verify/overwrite.h"

#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "ir/plan/in_place.h"
#include "tests/support/calls_in_step.h"
#include "tests/support/catch.h"
#include "tests/support/random_graph.h"
#include "tests/support/typed_body.h"

#include <set>

using namespace dfc;
using namespace dfc::test;

namespace {

/// A call by itself; its operands are inputs, parameters and constants.
struct Call {
  Graph graph;
  OpId op;

  explicit Call(const OpSample& sample) {
    GraphBuilder builder("call");
    std::vector<ValueId> operands;
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      operands.push_back(builder.result(builder.append(source(sample, i), {}, {})));
    }
    op = builder.append(sample.attributes, operands, {});
    REQUIRE(op.valid());
    graph = builder.soFar();
  }

  static OpAttributes source(const OpSample& sample, size_t index) {
    const TensorType& type = sample.operands[index];
    if (kindOf(sample.attributes) == OpKind::Assign && index == 0) {
      ops::Parameter parameter;
      parameter.type = type;
      return parameter;
    }
    ops::Input input;
    input.type = type;
    return input;
  }

  std::vector<bool> allowed(bool (*rule)(const Graph&, OpId, size_t)) const {
    std::vector<bool> answers;
    for (size_t i = 0; i < graph[op].operands.size(); ++i) {
      answers.push_back(rule(graph, op, i));
    }
    return answers;
  }
};

/// Counts what the planner allows; fails where the verifier does not.
int allowedOf(const Graph& graph, OpId op) {
  int allowed = 0;
  for (size_t i = 0; i < graph[op].operands.size(); ++i) {
    INFO(nameOf(graph[op].kind()) << ", operand " << i << ": "
                                  << toString(graph.typeOf(graph[op].operands[i])));
    const bool planned = mayRunInPlace(graph, op, i);
    CHECK((!planned || mayOverwrite(graph, op, i)));
    allowed += planned ? 1 : 0;
  }
  CHECK(sharesStorageWith(graph[op]) == sameBytesAs(graph[op].kind()));
  return allowed;
}

std::vector<bool> verdict(OpAttributes attributes, std::vector<TensorType> operands) {
  return Call({std::move(attributes), std::move(operands)}).allowed(mayOverwrite);
}

template <class Op>
Op bodyOf(std::string_view text) {
  Op op;
  REQUIRE(op.body.decode(text));
  return op;
}

using Answers = std::vector<bool>;

} // namespace

TEST_CASE("in place: the planner allows no call that the verifier does not") {
  for (const ElementType element : allElementTypes) {
    std::vector<OpSample> samples = elementwiseCalls(element, {5, 7});
    for (const auto& more :
         {fusedProducts(element, 5, 3, 7), fusedProducts(element, 6, 6, 6), callsOfAllOps(element)}) {
      samples.insert(samples.end(), more.begin(), more.end());
    }
    std::set<OpKind> seen;
    int allowed = 0;
    for (const OpSample& sample : samples) {
      const Call call(sample);
      seen.insert(kindOf(sample.attributes));
      allowed += allowedOf(call.graph, call.op);
    }
    INFO(name(element));
    CHECK(allowed > 20);
    CHECK((element != ElementType::F32 || seen.size() == opKindCount));
  }
}

TEST_CASE("in place: the planner allows nothing in random graphs that the verifier does not") {
  int allowed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Graph graph = randomGraph(seed);
    for (const OpId op : graph.ops()) {
      allowed += allowedOf(graph, op);
    }
  }
  CHECK(allowed > 100);
}

TEST_CASE("in place: an elementwise op may overwrite operands of its shape and width") {
  const TensorType whole = f32({5, 7}), number{ElementType::I32, {5, 7}}, flag{ElementType::Bool, {5, 7}};
  CHECK(verdict(ops::Add{}, {whole, whole}) == Answers{true, true});
  CHECK(verdict(ops::Sub{}, {whole, f32({7})}) == Answers{true, false});
  CHECK(verdict(ops::Sub{}, {f32({5, 1}), whole}) == Answers{false, true});
  CHECK(verdict(ops::Sub{}, {f32({1, 5, 7}), whole}) == Answers{true, false}); // another rank is a broadcast
  CHECK(verdict(ops::Compare{}, {whole, whole}) == Answers{false, false});
  CHECK(verdict(ops::Select{}, {flag, number, number}) == Answers{false, true, true});
  ops::Cast cast;
  for (const auto& [to, may] : {std::pair(ElementType::I32, true), std::pair(ElementType::F64, false),
                                std::pair(ElementType::F16, false), std::pair(ElementType::U8, false)}) {
    cast.to = to;
    CHECK(verdict(cast, {whole}) == Answers{may});
  }
}

TEST_CASE("in place: a fused op may overwrite like its parts, and never where it reduces") {
  auto fused = bodyOf<ops::Fused>("add:f32 %0 %1; relu:f32 %2");
  CHECK(verdict(fused, {f32({5, 7}), f32({7})}) == Answers{true, false});
  fused.reduction = ops::Fused::Reduction::Sum;
  fused.axes = {0};
  fused.keepDims = true;
  CHECK(verdict(fused, {f32({1, 7}), f32({7})}) == Answers{false, false}); // even of one row
}

TEST_CASE("in place: a fused product may overwrite operands behind it, and never a factor") {
  const TensorType square = f32({6, 6}), number{ElementType::I32, {6, 6}};
  const auto update = bodyOf<ops::FusedMatmul>("mul:f32 %0 %1; sub:f32 %2 %3");
  CHECK(verdict(update, {square, square, f32({6}), square}) == Answers{false, false, false, true});
  const auto casting = bodyOf<ops::FusedMatmul>("cast:f32 %1; add:f32 %0 %2");
  CHECK(verdict(casting, {square, square, number}) == Answers{false, false, false});
}

TEST_CASE("in place: an op over rows may overwrite them, and scatterAdd what it adds to") {
  const TensorType square = f32({6, 6});
  CHECK(verdict(ops::Softmax{}, {square}) == Answers{true});
  CHECK(verdict(ops::LogSoftmax{}, {square}) == Answers{true});
  CHECK(verdict(ops::SoftmaxCrossEntropyGradient{}, {square, i64({6}), f32({})}) ==
        Answers{true, false, false});
  CHECK(verdict(ops::ScatterAdd{}, {square, i64({6}), square}) == Answers{true, false, false});
  CHECK(verdict(ops::DynamicUpdateSlice{}, {square, square, i64({2})}) == Answers{true, false, false});
}

TEST_CASE("in place: what reads other places may overwrite nothing") {
  const TensorType square = f32({6, 6}), line = f32({6});
  ops::Transpose transpose;
  transpose.permutation = {1, 0};
  ops::ReduceSum sum;
  sum.axes = {0};
  sum.keepDims = true;
  CHECK(verdict(transpose, {square}) == Answers{false});
  CHECK(verdict(sum, {f32({1, 6})}) == Answers{false});
  CHECK(verdict(ops::Matmul{}, {square, square}) == Answers{false, false});
  CHECK(verdict(ops::LayerNorm{{}, 1}, {square, line, line}) == Answers{false, false, false});
  CHECK(verdict(ops::CumSum{}, {square}) == Answers{false});
  CHECK(verdict(ops::Trilu{}, {square}) == Answers{false});
  CHECK(verdict(ops::Assign{}, {square, square}) == Answers{true, false});
}
