// Writing and reading graphs, the compiler's passes and stages, each beside the least work of a pass:
// rebuilding the graph op by op. The input of a pass is the output of the passes before it.
#include "compiler/memory/plan_memory.h"
#include "compiler/passes/passes.h"
#include "compiler/place/place.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/text/parse.h"
#include "ir/author/text/print.h"
#include "ir/graph/rewriter.h"
#include "runtime/executable_folder.h"
#include "tools/bench/graphs/large.h"
#include "tools/bench/graphs/transformer.h"
#include "tools/bench/micro/cases.h"
#include "tools/bench/micro/made.h"

#include <memory>

namespace dfc::bench {
namespace {

Work rebuilt(const Graph& graph) {
  return [graph] {
    Rewriter rewriter(graph);
    for (const OpId op : graph.ops()) {
      rewriter.copy(op);
    }
    std::move(rewriter).finish();
  };
}

MicroCase besideRebuilding(std::string key, std::string what, std::function<Works()> prepare) {
  return {std::move(key), std::move(what), "the graph rebuilt", std::move(prepare)};
}

Works passWorks(size_t index, const Graph& source) {
  const llvm::ArrayRef<PassRow> passes = allPasses();
  Graph graph = source;
  for (const PassRow& before : passes.take_front(index)) {
    graph = made(before.run(graph, {}));
  }
  return {[graph, pass = passes[index]] { made(pass.run(graph, {})); }, rebuilt(graph)};
}

/// The input of a pass: a large model, and lesson 2's net for the pass `gradients`, for which the model has
/// no work.
Graph sourceOf(std::string_view pass, size_t nodes) {
  return pass == "gradients" ? made(readGraph(shippedFile("samples/02_train_mlp/mlp.dfg").string()))
                             : made(largeModel(nodes));
}

void addPasses(size_t nodes, std::vector<MicroCase>& cases) {
  for (size_t i = 0; i < allPasses().size(); ++i) {
    const std::string name(allPasses()[i].name);
    const std::string on = name == "gradients" ? "lesson 2's net" : std::to_string(nodes) + " ops";
    cases.push_back(besideRebuilding("micro/pass/" + name, "the pass on " + on,
                                     [=] { return passWorks(i, sourceOf(name, nodes)); }));
  }
}

void addWriting(std::vector<MicroCase>& cases) {
  cases.push_back(
      besideRebuilding("micro/dsl", "a transformer block and its gradients written in the DSL", [] {
        return Works{[] { made(blockTraining({})); }, rebuilt(made(blockTraining({})))};
      }));
}

void addTexts(size_t nodes, std::vector<MicroCase>& cases) {
  const std::string ops = std::to_string(nodes) + " ops";
  cases.push_back(besideRebuilding("micro/text/parse", "the text of " + ops + " read", [=] {
    const Graph graph = made(largeModel(nodes));
    return Works{[text = printGraph(graph)] { made(parseGraph(text, "large.dfg")); }, rebuilt(graph)};
  }));
  cases.push_back(besideRebuilding("micro/text/print", ops + " written as text", [=] {
    const Graph graph = made(largeModel(nodes));
    return Works{[graph] { printGraph(graph); }, rebuilt(graph)};
  }));
}

/// The results of the stages after the passes.
struct Stages {
  explicit Stages(size_t nodes)
      : machine(made(readMachine(shippedFile("samples/machines/cpu-2gpu.json").string()))),
        graph(made(largeModel(nodes))), placement(made(place(graph, machine, cost, "heft"))),
        placed(insertTransfers(placement, machine)), schedule(makeSchedule(placed, machine, cost)) {}

  Machine machine;
  RooflineCostModel cost;
  Graph graph;
  Placement placement;
  PlacedGraph placed;
  Schedule schedule;
};

struct NamedStage {
  const char *name, *what;
  void (*run)(const Stages&);
};

constexpr NamedStage namedStages[] = {
    {"place", "placed by HEFT", [](const Stages& s) { made(place(s.graph, s.machine, s.cost, "heft")); }},
    {"transfers", "transfers put in", [](const Stages& s) { insertTransfers(s.placement, s.machine); }},
    {"schedule", "scheduled", [](const Stages& s) { makeSchedule(s.placed, s.machine, s.cost); }},
    {"memory", "memory planned", [](const Stages& s) { made(planMemory(s.placed, s.schedule, s.machine)); }},
};

void addStages(size_t nodes, std::vector<MicroCase>& cases) {
  for (const NamedStage& stage : namedStages) {
    cases.push_back(besideRebuilding(std::string("micro/stage/") + stage.name,
                                     std::to_string(nodes) + " ops on a CPU and two GPUs, " + stage.what,
                                     [nodes, run = stage.run] {
                                       const auto stages = std::make_shared<const Stages>(nodes);
                                       return Works{[=] { run(*stages); }, rebuilt(stages->graph)};
                                     }));
  }
}

} // namespace

std::vector<MicroCase> compilerCases(bool quick) {
  const size_t nodes = quick ? 200 : 2000;
  std::vector<MicroCase> cases;
  addWriting(cases);
  addTexts(nodes, cases);
  addPasses(nodes, cases);
  addStages(nodes, cases);
  return cases;
}

} // namespace dfc::bench
