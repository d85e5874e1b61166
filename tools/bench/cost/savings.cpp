// Savings of fusion and in-place updates: bytes that ops read and write in a step, and bytes of the arena, of
// a training step of the MLP and of a transformer block on one CPU. Read from plans; nothing is run.
#include "compiler/memory/plan_memory.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/author/text/units.h"
#include "ir/plan/executable_parts.h"
#include "tools/bench/cost/costs.h"
#include "tools/bench/graphs/mlp.h"
#include "tools/bench/graphs/transformer.h"

#include <fmt/format.h>

namespace dfc::bench {
namespace {

struct Amounts {
  double moved = 0, arena = 0; ///< bytes
};

Machine oneCpu() {
  Machine machine;
  DeviceRow cpu;
  cpu.name = "cpu0";
  cpu.peakFlops.fill(1e11);
  cpu.memoryBandwidth = 1e10;
  cpu.launchSeconds = 1e-6;
  machine.devices.add(cpu);
  return machine;
}

/// Views move nothing. An assign moves its value unless the value is at the parameter's offset.
double bytesMoved(const PlacedGraph& placed, const MemoryPlan& memory) {
  const Graph& graph = placed.graph;
  double bytes = 0;
  for (const OpId op : graph.ops()) {
    const OpRow& row = graph[op];
    const OpClass opClass = classOf(row.kind());
    if (opClass == OpClass::State) {
      const bool inPlace = memory.slots[row.operands[1]].offset == memory.slots[row.firstResult].offset;
      bytes += inPlace ? 0 : 2 * static_cast<double>(graph.typeOf(row.firstResult).bytes());
    } else if (opClass != OpClass::Source && opClass != OpClass::View) {
      bytes += costOf(row.attributes, graph.operandTypesOf(op), graph.resultTypesOf(op)).bytes;
    }
  }
  return bytes;
}

Result<Amounts> amountsOf(const Graph& graph, bool fused, bool inPlace) {
  const Machine machine = oneCpu();
  const RooflineCostModel cost;
  CompileOptions options;
  if (!fused) {
    options.skipPasses = {"fuse_elementwise", "fuse_matmul"};
  }
  const auto plan = compile(graph, machine, cost, options);
  if (!plan) {
    return plan.errors();
  }
  const PlacedGraph& placed = plan->placed();
  const MemoryPlan memory = packMemory(placed, makeSchedule(placed, machine, cost), machine, {},
                                       inPlace ? Sharing::InPlace : Sharing::Views);
  return Amounts{bytesMoved(placed, memory), static_cast<double>(memory.arenaBytes[machine.host()])};
}

Status compare(const Graph& graph, bool fused, bool inPlace, const std::string& description, Row& row) {
  const auto with = amountsOf(graph, true, true), without = amountsOf(graph, fused, inPlace);
  if (!with || !without) {
    return with ? without.errors() : with.errors();
  }
  const auto held = [&](const std::string& of, double optimised, double plain) {
    row.checks.push_back({of + " without " + description, optimised / plain, std::nullopt, std::nullopt});
    row.notes.push_back(fmt::format("{}: {} instead of {}", of, humanBytes(static_cast<int64_t>(optimised)),
                                    humanBytes(static_cast<int64_t>(plain))));
  };
  held("bytes moved", with->moved, without->moved);
  held("arena", with->arena, without->arena);
  return success();
}

void addRows(Harness& harness, const std::string& name, const std::string& description,
             const Result<Graph>& graph) {
  struct Saving {
    const char *key, *description;
    bool fused, inPlace;
  };
  for (const Saving& saving :
       {Saving{"fusion", "fusion", false, true}, Saving{"in-place", "working in place", true, false},
        Saving{"both", "either", false, false}}) {
    const std::string key = fmt::format("savings/{}/{}", name, saving.key);
    if (harness.wants(key)) {
      harness.attempt(key, description, [&](Row& row) -> Status {
        return graph ? compare(*graph, saving.fused, saving.inPlace, saving.description, row)
                     : Status(graph.errors());
      });
    }
  }
}

} // namespace

void savings(Harness& harness, const BaselineOptions& /*baselines*/) {
  MlpSpec net;
  net.batch = 1024;
  net.workers = {"cpu0"};
  net.owner = "cpu0";
  addRows(harness, "net", "MLP, a training step, batch 1024", trainingStep(net));
  addRows(harness, "block", "transformer block, a training step", blockTraining({}));
}

} // namespace dfc::bench
