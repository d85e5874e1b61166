// scale_losses: the warnings of steps that it cannot scale.
#include "compiler/compile.h"
#include "compiler/passes/passes.h"
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/author/loss_scaling.h"
#include "ir/author/optimizers.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/graph.h"
#include "ir/graph/same_graph.h"
#include "ir/machine/machine.h"
#include "runtime/executable_folder.h"
#include "tests/compiler/passes/training_step.h"
#include "tests/support/catch.h"

namespace dfc {

using test::inF16;
using test::stepOf;
TEST_CASE("scale_losses: a step with a call whose inner values are used stays as it is, and says so") {
  for (const bool fetched : {true, false}) {
    const Graph graph = stepOf([&](Builder& g, Tensor w, Tensor x, Tensor loss) {
      const Tensor v = g.parameter("v", f32({3, 4}));
      g.assign(v, v - gradients(reduceMean(matmul(x, v)), {v})[0]); // could be scaled, but not alone
      const Tensor slope = gradients(loss, {w})[0];
      const Tensor inner = Tensor(&g, ValueId(slope.value().index() - 1)).named("inner");
      fetched ? g.fetch("seen", inner) : g.fetch("seen", (inner * 2).named("twice"));
      g.assign(w, w - slope);
    });
    const Result<Graph> after = scaleLosses(graph, inF16);
    REQUIRE(after.ok());
    CHECK(sameGraph(graph, *after));
    REQUIRE(after.warnings().size() == 1);
    CHECK(after.warnings()[0].severity == Severity::Warning);
    // Where the reader is written; a fetched value, where it was made: of the loss.
    CHECK(std::string(after.warnings()[0].where.file)
              .ends_with(fetched ? "training_step.h" : "scale_losses_warnings_test.cpp"));
    CHECK(after.warnings()[0].message ==
          std::string("in f16 no loss of this step is scaled: 'inner' is inside a call of gradients that "
                      "trains, and ") +
              (fetched ? "it is fetched" : "'twice' reads it") +
              ", so that the call cannot be taken of a scaled loss");
  }
}

TEST_CASE("scale_losses: a kept call of which nothing is in f16, or that trains nothing, is no matter") {
  for (const bool trains : {true, false}) {
    const Graph graph = stepOf([&](Builder& g, Tensor w, Tensor x, Tensor) {
      const Tensor square = trains ? reduceSum(exp(w * w)) : reduceSum(tanh(matmul(x, w)));
      const Tensor slope = gradients(square, {w})[0];
      g.fetch("inner", Tensor(&g, ValueId(slope.value().index() - 1)));
      g.assign(w, trains ? w - slope : w * 2);
    });
    const Result<Graph> after = scaleLosses(graph, inF16);
    REQUIRE(after.ok());
    CHECK(render(after.warnings()) == "");
    CHECK(sameGraph(graph, *after));
  }
}

namespace {

/// What scale_losses says of the graph that a file spells out.
Diagnostics saidOfFile(const Graph& graph, const PassOptions& options = inF16) {
  const Result<Graph> file = parseGraph(printGraph(graph), "spelled_out.dfg");
  REQUIRE(file.ok());
  const Result<Graph> after = scaleLosses(*file, options);
  REQUIRE(after.ok());
  CHECK(sameGraph(*file, *after));
  return after.warnings();
}

} // namespace

TEST_CASE("scale_losses: gradients that a file spells out stay, and the file is warned of") {
  const Graph named =
      stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { sgd({w}, gradients(loss, {w}), 1); });
  const Graph ofKind = stepOf([](Builder& g, Tensor w, Tensor x, Tensor) {
    const Tensor loss = softmaxCrossEntropy(matmul(x, w), g.input("labels", i32({2})));
    g.assign(w, w - gradients(loss, {w})[0].named("dw"));
  });
  const Graph scoped = stepOf([](Builder& g, Tensor w, Tensor x, Tensor) {
    Tensor loss;
    {
      const auto scope = g.scope("layer forward");
      loss = reduceMean(tanh(tanh(matmul(x, w))));
    }
    g.assign(w, w - gradients(loss, {w})[0].named("dw"));
  });
  for (const Graph* graph : {&named, &ofKind, &scoped}) {
    const Diagnostics said = saidOfFile(*graph);
    REQUIRE(said.size() == 1);
    CHECK(said[0].severity == Severity::Warning);
    CHECK(said[0].where.file == "spelled_out.dfg");
    CHECK(said[0].where.line > 1);
    CHECK(said[0].message ==
          "parameter 'w' is updated by f16 gradients of a loss that is not scaled: the graph spells its "
          "gradients out, and those below 6e-8 become 0");
    CHECK(render(saidOfFile(*graph, {.precision = Precision::Bf16})) == "");
  }
  const Graph several =
      stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { adam({w}, gradients(loss, {w})); });
  REQUIRE(saidOfFile(several).size() == 1); // of the weight and its moments
  CHECK(saidOfFile(several)[0].message.find(" and 2 more are updated by f16 gradients") != std::string::npos);
}

TEST_CASE("scale_losses: no warning where no 16-bit gradient trains") {
  const Graph byAuthor = stepOf([](Builder& g, Tensor w, Tensor, Tensor loss) {
    LossScaling scaling(g);
    const auto d = scaling.unscaled(gradients(scaling.scaled(loss), {w}));
    adam({w}, d, {.onlyIf = scaling.finite()});
  });
  const Graph saliency = stepOf([](Builder& g, Tensor, Tensor x, Tensor loss) {
    g.fetch("saliency", gradients(loss, {x})[0]);
    const Tensor mean = g.parameter("mean", f32({}));
    g.assign(mean, mean * 0.9 + loss * 0.1);
  });
  const Graph wide = stepOf([](Builder& g, Tensor w, Tensor x, Tensor) {
    const Tensor y = matmul(x, w, {}, Precision::Ieee);
    g.assign(w, w - gradients(reduceSum(y * y), {w})[0]);
  });
  const Graph bothWays = stepOf([](Builder& g, Tensor w, Tensor x, Tensor) { // a stateful recurrent net
    const Tensor ahead = g.parameter("ahead", f32({2, 4})), back = g.parameter("back", f32({2, 4}));
    Tensor next, before;
    {
      const auto scope = g.scope("cell forward");
      next = tanh(matmul(x, w) + ahead);
    }
    {
      const auto scope = g.scope("cell backward");
      before = tanh(matmul(x, w) + back);
    }
    g.assign(ahead, next);
    g.assign(back, before);
  });
  for (const Graph* graph : {&byAuthor, &saliency, &wide, &bothWays}) {
    CHECK(render(saidOfFile(*graph)) == "");
  }
}

TEST_CASE("scale_losses: the plan comes with the warning") {
  const Graph graph = *parseGraph(
      printGraph(stepOf([](Builder&, Tensor w, Tensor, Tensor loss) { sgd({w}, gradients(loss, {w}), 1); })),
      "spelled_out.dfg");
  const Machine machine = *readMachine(shippedFile("samples/machines/cpu-2gpu.json").string());
  for (const auto& [precision, skipped, count] :
       {std::tuple(Precision::F16, false, 1U), std::tuple(Precision::F16, true, 0U),
        std::tuple(Precision::Bf16, false, 0U), std::tuple(Precision::Ieee, false, 0U)}) {
    CompileOptions options;
    options.precision = precision;
    if (skipped) {
      options.skipPasses = {"scale_losses"};
    }
    const auto plan = compile(graph, machine, RooflineCostModel(), options);
    REQUIRE(plan.ok());
    CHECK(plan.warnings().size() == count);
  }
}

} // namespace dfc
