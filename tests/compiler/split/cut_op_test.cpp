// The op `cut`: an author's wish for a split, said in the graph. It gives the split that the same wish beside
// the graph gives, is an identity everywhere else, and what cannot be had is said at the author's line.
#include "compiler/compile.h"
#include "compiler/cost/cost_model.h"
#include "compiler/interpreter/evaluate.h"
#include "compiler/passes/passes.h"
#include "compiler/split/split.h"
#include "compiler/split/take_cuts.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/matchers.h"
#include "tests/support/parsed.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

using Wishes = std::vector<SplitWish>;

// A step of a two-layer network with its values as `cuts` says: "$x" is the value x.
std::string net(const std::string& x, const std::string& w1, const std::string& h) {
  return fmt::format(R"(graph net {{
  input x : f32[64, 32]
  parameter w1 : f32[32, 16] = glorot(seed=1)
  parameter w2 : f32[16, 8] = glorot(seed=2)
  scope "first" {{
    h = {}
  }}
  y = matmul(h, w2)
  loss = reduceMean(y * y)
  dw1, dw2 = gradients(loss, w1, w2)
  assign(w1, w1 - 0.1 * dw1)
  assign(w2, w2 - 0.1 * dw2)
  fetch loss
}})",
                     fmt::format(fmt::runtime(h), fmt::format("relu(matmul({}, {}))", x, w1)));
}

Result<Executable> planOf(const std::string& text, const Wishes& wishes = {},
                          const std::string& policy = "auto", uint32_t gpus = 2) {
  CompileOptions options;
  options.splits = wishes;
  options.policy = policy;
  options.planSteps = 0; // a search takes other steps through a graph of one more op
  return compile(parsed(text), smallMachine(gpus), RooflineCostModel(), options);
}

std::string planText(const std::string& text, const Wishes& wishes = {}) {
  const auto plan = planOf(text, wishes);
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  CHECK(plan->graph().opsOf(OpKind::Cut).empty());
  return plan->policy() + "\n" + printGraph(plan->graph());
}

Diagnostic errorOf(const Result<Executable>& plan) {
  REQUIRE(!plan.ok());
  INFO(render(plan.errors()));
  CHECK(plan.errors().size() == 1);
  return plan.errors()[0];
}

void checkError(const std::string& text, uint32_t line, const std::string& message, const std::string& hint,
                const std::string& policy = "auto") {
  const Diagnostic error = errorOf(planOf(text, {}, policy));
  CHECK(error.where.file == "test.dfg");
  CHECK(error.where.line == line);
  CHECK_THAT(error.message, containing(message));
  CHECK_THAT(error.hint, containing(hint));
}

const std::string plain = net("x", "w1", "{}");

} // namespace

TEST_CASE("cut: the plan is that of the same wish beside the graph") {
  SECTION("an input") {
    CHECK(planText(net(R"(cut(x, axis=0, devices="gpu*"))", "w1", "{}")) ==
          planText(plain, {{"x", 0, "gpu*"}}));
  }
  SECTION("a parameter, counted from the end") {
    CHECK(planText(net("x", R"(cut(w1, axis=-1, devices="gpu*"))", "{}")) ==
          planText(plain, {{"w1", -1, "gpu*"}}));
  }
  SECTION("an intermediate value, under the name of the cut") {
    CHECK(planText(net("x", "w1", R"(cut({}, axis=1, devices="gpu*"))")) ==
          planText(plain, {{"h", 1, "gpu*"}}));
  }
  SECTION("two at once, and one of each kind") {
    const std::string both =
        planText(net(R"(cut(x, axis=0, devices="gpu*"))", R"(cut(w1, axis=0, devices="gpu*"))", "{}"));
    CHECK(both == planText(plain, {{"x", 0, "gpu*"}, {"w1", 0, "gpu*"}}));
    CHECK(both == planText(net(R"(cut(x, axis=0, devices="gpu*"))", "w1", "{}"), {{"w1", 0, "gpu*"}}));
  }
}

TEST_CASE("cut: a gradient") {
  const std::string text = R"(graph g {
  input x : f32[64, 32]
  parameter w : f32[32, 16] = glorot(seed=1)
  loss = reduceMean(exp(matmul(x, w)))
  dw = gradients(loss, w)
  part = cut(dw, axis=1, devices="gpu*")
  assign(w, w - 0.1 * part)
  fetch loss
})";
  CHECK(planOf(text).ok());
  const auto split = splitCandidates(*expandGradients(parsed(text)), smallMachine(2), RooflineCostModel());
  INFO(render(split.errors()));
  REQUIRE(split.ok());
  REQUIRE(!split->empty());
  const ValueId part = split->front().graph.findValue("dw.gpu0");
  REQUIRE(part.valid());
  CHECK(split->front().graph.typeOf(part) == f32({32, 8}));
}

TEST_CASE("cut: parameters alone may be cut") {
  const auto plan = planOf(R"(graph g {
  parameter w : f32[64, 32] = glorot(seed=1)
  fetch y = cut(w, axis=0, devices="gpu*")
})");
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  CHECK(plan->graph().findValue("w.gpu1").valid());
}

TEST_CASE("cut: values are those of the graph without it") {
  const Graph with = parsed(net(R"(cut(x, axis=0, devices="gpu*"))", R"(cut(w1, axis=-1, devices="gpu*"))",
                                R"(cut({}, axis=0, devices="gpu*"))"));
  const Graph without = parsed(plain);
  const auto a = evaluate(*expandGradients(with), randomFeeds(with, 7), randomParameters(with, 8)),
             b = evaluate(*expandGradients(without), randomFeeds(without, 7), randomParameters(without, 8));
  REQUIRE((a.ok() && b.ok()));
  CHECK(a->fetches == b->fetches);
  CHECK(a->parameters == b->parameters);
}

TEST_CASE("cut: on a machine with one device nothing is cut, whatever devices are named") {
  const std::string text = net(R"(cut(x, axis=0, devices="gpu*"))", "w1", "{}");
  for (const char* policy : {"auto", "single", "heft", "pins", "split"}) {
    INFO(policy);
    const auto plan = planOf(text, {}, policy, 0);
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    CHECK(plan->graph().opsOf(OpKind::Cut).empty());
  }
}

TEST_CASE("cut: passes keep the wish, at every precision and around convolutions") {
  Builder g;
  const Tensor images = g.input("images", f32({8, 4, 10, 10}));
  const Tensor filter = g.parameter("filter", f32({8, 4, 3, 3}), heNormal(1));
  const Tensor w = g.parameter("w", f32({512, 16}), glorot(2));
  const Tensor h = cut(conv2d(images, filter), 0, "gpu*").named("h");
  const Tensor rows = cut(reshape(relu(h), {8, 512}), -2, "gpu*").named("rows");
  const Tensor y = cut(matmul(rows, w), 0, "gpu*").named("y");
  const Tensor loss = reduceMean(y * y);
  const std::vector<Tensor> derivatives = gradients(loss, {filter, w});
  g.assign(filter, filter - 0.1 * derivatives[0]);
  g.assign(w, w - 0.1 * derivatives[1]);
  g.fetch("loss", loss);
  const Graph graph = *std::move(g).finish();
  for (const Precision precision : {Precision::Ieee, Precision::Tf32, Precision::Bf16, Precision::F16}) {
    INFO("precision " << static_cast<int>(precision));
    CompileOptions options;
    options.precision = precision;
    const auto plan = compile(graph, smallMachine(2), RooflineCostModel(), options);
    INFO(render(plan.errors()));
    REQUIRE(plan.ok());
    CHECK_THAT(plan->policy(), startingWith("split over gpu0"));
    CHECK(plan->graph().opsOf(OpKind::Cut).empty());
  }
}

TEST_CASE("cut: a constant is not folded away under the wish") {
  const auto plan = planOf(R"(graph g {
  input x : f32[4, 2]
  constant c : f32[4, 2] = fill(1)
  fetch y = x + cut(c, axis=0, devices="gpu*")
})");
  INFO(render(plan.errors()));
  REQUIRE(plan.ok());
  CHECK_THAT(plan->policy(), startingWith("split over"));
}

TEST_CASE("cut: wishes that contradict one another are said at the later line") {
  checkError(R"(graph g {
  input x : f32[64, 32]
  a = cut(x, axis=0, devices="gpu*")
  h = relu(a)
  b = cut(h, axis=0, devices="gpu*")
  c = cut(h, axis=1, devices="gpu*")
  fetch y = b + c
})",
             6, R"(cut(h, axis=1, devices="gpu*") contradicts cut(h, axis=0, devices="gpu*") at test.dfg:5)",
             "leave out one of them");
}

TEST_CASE("cut: a parameter and its next value have one layout") {
  checkError(R"(graph g {
  input x : f32[64, 32]
  parameter w : f32[32, 16] = glorot(seed=1)
  v = cut(w, axis=0, devices="gpu*")
  y = cut(matmul(x, v), axis=0, devices="gpu*")
  next = assign(w, w * 0.5)
  kept = cut(next, axis=1, devices="gpu*")
  fetch y
  fetch kept
})",
             7, "contradicts cut(w, axis=0, devices=\"gpu*\") at test.dfg:4", "leave out one of them");
}

TEST_CASE("cut: a wish beside the graph that contradicts it") {
  const auto plan =
      planOf(net(R"(cut(x, axis=0, devices="gpu*"))", R"(cut(w1, axis=0, devices="gpu*"))", "{}"),
             {{"w1", 1, "gpu*"}});
  const Diagnostic error = errorOf(plan);
  CHECK(error.where.line == 6);
  CHECK(error.message == "cut(w1, axis=0, devices=\"gpu*\") contradicts split 'w1:1=gpu*'");
  CHECK(error.note == "in scope 'first'");
}

TEST_CASE("cut: devices that there are not, or that differ") {
  checkError(net(R"(cut(x, axis=0, devices="tpu*"))", "w1", "{}"), 6, "names no device of machine",
             "name two devices or more");
  checkError(net(R"(cut(x, axis=0, devices="gpu0"))", "w1", "{}"), 6, "names one device of machine",
             "name two devices or more");
  checkError(R"(graph g {
  input x : f32[64, 32]
  a = cut(x, axis=0, devices="gpu*")
  fetch b = cut(relu(a), axis=0, devices="*")
})",
             4, R"(names other devices than cut(x, axis=0, devices="gpu*") at test.dfg:3)",
             "give all wishes the same devices");
}

TEST_CASE("cut: an axis along which the op of the value has no parts") {
  checkError(R"(graph g {
  input x : f32[64, 32]
  y = cut(softmax(x, axis=1), axis=-1, devices="gpu*")
  fetch y
})",
             3, "'y', f32[64, 32], cannot be cut along axis -1", "it can be cut along axis 0");
  checkError(R"(graph g {
  input x : f32[1, 1]
  fetch y = cut(relu(x), axis=0, devices="gpu*")
})",
             3, "cannot be cut along axis 0", "among so many devices");
}

TEST_CASE("cut: policies of whole ops, and pins") {
  for (const char* policy : {"single", "heft", "peft", "pins"}) {
    checkError(net(R"(cut(x, axis=0, devices="gpu*"))", "w1", "{}"), 6,
               fmt::format("policy '{}' places whole ops", policy), "policies auto and split take cuts",
               policy);
  }
  checkError(R"(graph g {
  input x : f32[64, 32]
  a = cut(x, axis=0, devices="gpu*")
  y = relu(a) on gpu0
  fetch y
})",
             3, "a graph with pins is not split", "leave them out");
}

TEST_CASE("cut: errors about the DSL's are at the call, with its scope") {
  Builder g;
  const Tensor x = g.input("x", f32({64, 32}));
  const uint32_t line = __LINE__ + 4;
  {
    const auto scope = g.scope("head");
    const Tensor h = cut(relu(x), 0, "gpu*").named("h");
    g.fetch("y", cut(h, 1, "gpu*"));
  }
  const auto plan = compile(*std::move(g).finish(), smallMachine(2), RooflineCostModel());
  const Diagnostic error = errorOf(plan);
  CHECK_THAT(error.where.file, containing("cut_op_test.cpp"));
  CHECK(error.where.line == line);
  CHECK(error.note == "in scope 'head'");
  CHECK_THAT(error.message, containing("cut(h, axis=1, devices=\"gpu*\") contradicts cut(h, axis=0"));
}

TEST_CASE("takeCuts: names, places and what reads the value") {
  const TakenCuts taken = takeCuts(parsed(R"(graph g {
  input x : f32[4, 2]
  a = cut(x, axis=-1, devices="gpu*")
  b = cut(exp(a), axis=0, devices="*")
  fetch c = cut(b, axis=0, devices="*")
})"));
  CHECK(taken.graph.opsOf(OpKind::Cut).empty());
  CHECK(taken.graph.opCount() == 2);
  REQUIRE(taken.cuts.size() == 3);
  CHECK(taken.graph.nameOf(taken.cuts[0].value) == "x");
  CHECK(taken.cuts[0].axis == -1);
  CHECK(taken.cuts[0].devices == "gpu*");
  CHECK(taken.cuts[0].where.line == 3);
  CHECK(taken.graph.nameOf(taken.cuts[1].value) == "b"); // exp has no name of its own
  CHECK(taken.cuts[2].value == taken.cuts[1].value);
  REQUIRE(taken.graph.fetches().size() == 1);
  CHECK(taken.graph.fetches()[0].value == taken.cuts[1].value);
}

} // namespace dfc::test
