// The pipeline on one screen: each stage is a type of its own and asks for the one before it, so a step out
// of order does not compile.
#include "compiler/compile.h"

#include "compiler/memory/plan_memory.h"
#include "compiler/passes/passes.h"
#include "compiler/place/place.h"
#include "compiler/schedule/schedule.h"
#include "compiler/transfer/insert_transfers.h"
#include "ir/verify/verify.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

#ifdef DFC_DEBUG_CHECKS
constexpr bool verifyEachStage = true;
#else
constexpr bool verifyEachStage = false;
#endif

// A stage that breaks its own contract is our bug, not the author's.
template <class Verify>
void check(std::string_view stage, Verify verify) {
  if (verifyEachStage) {
    const Diagnostics errors = verify();
    DFC_ASSERT(errors.empty(), "stage '" + std::string(stage) + "' broke its contract:\n" + render(errors));
  }
}

Result<Graph> runPasses(Graph graph, const CompileOptions& options) {
  for (const PassRow& pass : allPasses()) {
    if (llvm::is_contained(options.skipPasses, pass.name)) {
      continue;
    }
    auto next = pass.run(graph);
    if (!next) {
      return next;
    }
    graph = *std::move(next);
    check(pass.name, [&] { return verifyGraph(graph); });
    if (options.observer != nullptr) {
      options.observer->graph(graph, pass.name);
    }
  }
  return graph;
}

} // namespace

Result<Executable> compile(const Graph& source, const Machine& machine, const CostModel& cost,
                           const CompileOptions& options) {
  CompileObserver silent;
  CompileObserver& observer = options.observer != nullptr ? *options.observer : silent;
  if (Diagnostics errors = verifyMachine(machine); !errors.empty()) {
    return errors;
  }

  // Passes first: they need no device, and every op they save is one that nobody has to place.
  auto graph = runPasses(source, options);
  if (!graph) {
    return graph.errors();
  }

  // Then where: transfers follow from it, so it cannot come later.
  auto placement = place(*graph, machine, cost, options);
  if (!placement) {
    return placement.errors();
  }
  check("place", [&] { return verifyPlacement(*placement, machine); });

  // Copies become ops before scheduling, so that they are ordered against computation instead of implied by
  // it.
  PlacedGraph placed = insertTransfers(*placement, machine);
  check("insertTransfers", [&] { return verifyPlacedGraph(placed, machine); });
  observer.placed(placed);

  // When: order before memory, because only the order says which values may share bytes.
  Schedule schedule = makeSchedule(placed, machine, cost);
  check("makeSchedule", [&] { return verifySchedule(schedule, placed, machine); });
  observer.schedule(schedule, placed);

  auto memory = planMemory(placed, schedule, machine);
  if (!memory) {
    return memory.errors();
  }
  check("planMemory", [&] { return verifyMemoryPlan(*memory, schedule, placed, machine); });
  observer.memory(*memory, schedule, placed);

  // Sealing verifies the stages against one another, in every build: the runtime trusts a sealed plan
  // blindly.
  return Executable::seal(std::move(placed), std::move(schedule), *std::move(memory), machine,
                          placement->policy);
}

} // namespace dfc
