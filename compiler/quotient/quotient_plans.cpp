#include "compiler/quotient/quotient_plans.h"

#include "compiler/lower_options.h"
#include "compiler/place/memory_demand.h"
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/run_passes.h"
#include "compiler/split/mesh.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>

namespace dfc {
namespace {

/// The least micro-batches are one for so many stages.
constexpr size_t stagesAPart = 4;
constexpr size_t mostStages = 64;
constexpr unsigned mostThreads = 8; // each has a quotient of its own
/// Micro-batches that are simulated.
constexpr size_t fewParts = 1, moreParts = 2;

/// What a simulated step takes, and each stage's memory.
struct Simulated {
  double seconds = 0;
  std::vector<double> state, working; // bytes
  std::vector<double> busy;           // seconds of computation
};

std::optional<Simulated> simulated(const Graph& graph, const QuotientMachine& quotient, const CostModel& cost,
                                   const CompileOptions& options) {
  const Machine& machine = quotient.machine;
  auto fused = runPasses(PassPhase::Fuse, graph, machine, options);
  auto placed = fused ? place(*fused, machine, cost, "pins") : Result<Placement>(fused.errors());
  if (!placed) {
    return std::nullopt;
  }
  Simulated made;
  made.seconds = predictedMakespan(*placed, decided(*placed, machine, cost, lowerOptionsOf(options)));
  SideTable<DeviceId, double> busy(machine.devices.size(), 0);
  for (const OpId op : placed->graph.ops()) {
    const DeviceId device = placed->device[op];
    busy[device] += cost.opSeconds(placed->graph, op, machine, device);
  }
  const MemoryDemand demand = memoryDemand(*placed, machine);
  for (const auto& row : quotient.rows.stages) {
    made.busy.push_back(busy[row.front()]);
    made.state.push_back(demand.state[row.front()]);
    made.working.push_back(demand.likely[row.front()] - demand.state[row.front()]);
  }
  return made;
}

// Each part more takes as long as the step grows, and no less than the busiest stage computes for it.
double secondsOf(const Simulated& few, const Simulated& more, size_t parts) {
  double one = more.seconds - few.seconds;
  for (size_t stage = 0; stage < few.busy.size(); ++stage) {
    one = std::max(one, more.busy[stage] - few.busy[stage]);
  }
  return std::max(few.seconds, more.seconds) +
         one / (moreParts - fewParts) * (static_cast<double>(parts) - static_cast<double>(moreParts));
}

std::string describe(const Grid& grid, size_t parts) {
  const std::string groups =
      fmt::format("{} of {}", counted(grid.groups, "group"), counted(grid.width, "device"));
  const std::string batch = parts > 1 ? fmt::format(", the batch in {} parts", parts) : "";
  return grid.stages > 1 ? fmt::format("pipeline of {} stages, each of {}{}", grid.stages, groups, batch)
                         : groups;
}

double capacityOf(const Machine& machine, DeviceId device) {
  const int64_t bytes = machine.devices[device].memoryBytes;
  return bytes > 0 ? static_cast<double>(bytes) : HUGE_VAL;
}

double parameterBytes(const Graph& graph) {
  double bytes = 0;
  for (const OpId op : graph.opsOf(OpKind::Parameter)) {
    bytes += static_cast<double>(graph.typeOf(graph[op].firstResult).bytes());
  }
  return bytes;
}

int64_t batchOf(const Graph& graph) {
  int64_t most = 1;
  for (const OpId op : graph.opsOf(OpKind::Input)) {
    const Shape& shape = graph.typeOf(graph[op].firstResult).shape;
    most = std::max(most, shape.rank() > 0 ? shape[0] : 1);
  }
  return most;
}

// Of the memory that a stage needs at least: its part of the state, spread over a group; where a group is one
// device, weights are whole there, and an optimiser's two moments of each may be on others.
bool mayFit(double state, const Grid& grid, double capacity) {
  const size_t spread = grid.width > 1 ? grid.width : std::min<size_t>(grid.groups, 3);
  return state / static_cast<double>(grid.stages * spread) <= capacity;
}

/// Of m micro-batches and p stages a step takes (m + p - 1) / m times as long as without idle stages, at
/// best.
double idleFactor(const Grid& grid, size_t batch) {
  size_t parts = partsOf(grid);
  while (parts > 1 && batch / grid.groups % parts != 0) {
    parts /= 2;
  }
  return static_cast<double>(parts + grid.stages - 1) / static_cast<double>(parts);
}

/// How much longer than the least idle grid one may take by its idle stages.
constexpr double mostIdle = 1.5;

std::vector<Grid> gridsOf(size_t devices, size_t island) {
  std::vector<Grid> grids;
  for (size_t width = 1; width <= island; width = width == 1 ? std::max<size_t>(island, 2) : island + 1) {
    for (size_t stages = 1; stages <= mostStages && devices % (width * stages) == 0; stages *= 2) {
      grids.push_back({stages, devices / width / stages, width});
    }
  }
  return grids;
}

} // namespace

std::vector<DeviceId> largestClass(const Machine& machine) {
  std::vector<std::vector<DeviceId>> classes;
  for (const DeviceId device : machine.devices.ids()) {
    const auto same = llvm::find_if(classes, [&](const std::vector<DeviceId>& one) {
      return alike(machine.devices[one.front()], machine.devices[device]);
    });
    if (same == classes.end()) {
      classes.push_back({device});
    } else {
      same->push_back(device);
    }
  }
  return *std::max_element(classes.begin(), classes.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
}

std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                         const CostModel& cost, const CompileOptions& options) {
  const Graph graph = unfoldBatchNorms(takeCuts(rewritten).graph);
  const QuotientMachine quotient = quotientMachine(machine, devices, grid, cost);
  QuotientPlan plan{grid, 1, 0, 0, 0, true, "", {}};
  std::optional<SplitGraph> split;
  std::optional<Simulated> last;
  for (size_t parts = partsOf(grid); parts >= std::max<size_t>(grid.stages / stagesAPart, 1) && !last;
       parts /= 2) {
    const auto simulate = [&](size_t made) {
      split = splitOverGrid(graph, quotient.rows, quotient.machine, cost, {parts, made});
      return split ? simulated(split->graph, quotient, cost, options) : std::nullopt;
    };
    plan.parts = parts;
    last = simulate(fewParts);
    plan.seconds = last ? last->seconds : 0;
    if (last && parts > fewParts) {
      const Simulated few = *std::move(last);
      last = simulate(moreParts);
      plan.seconds = last ? secondsOf(few, *last, parts) : 0;
    }
  }
  if (!last) {
    return std::nullopt;
  }
  for (size_t stage = 0; stage < grid.stages; ++stage) {
    const auto underWay =
        static_cast<double>(grid.stages == 1 ? 1 : std::min(plan.parts, grid.stages - stage));
    const double bytes = last->state[stage] + underWay * last->working[stage];
    if (bytes > plan.memoryBytes) {
      plan.memoryBytes = bytes;
      plan.stateBytes = last->state[stage];
    }
  }
  plan.fits = plan.memoryBytes <= capacityOf(machine, devices.front());
  plan.description = describe(grid, plan.parts);
  plan.split = *std::move(split);
  plan.split.description = plan.description;
  return plan;
}

Result<std::vector<QuotientPlan>> quotientPlans(const Graph& written, const Machine& machine,
                                                const CostModel& cost, const CompileOptions& given) {
  CompileOptions options = given;
  options.observer = nullptr; // trials are not shown, and run on several threads
  auto expanded = runPasses(PassPhase::Expand, written, machine, options);
  auto graph = expanded ? runPasses(PassPhase::Rewrite, *std::move(expanded), machine, options)
                        : Result<Graph>(expanded.errors());
  if (!graph) {
    return graph.errors();
  }
  std::vector<DeviceId> devices = largestClass(machine);
  llvm::erase_value(devices, machine.host());
  if (devices.empty()) {
    return std::vector<QuotientPlan>();
  }
  const size_t island = islandSize(devices, machine, cost);
  const double state = parameterBytes(*graph), capacity = capacityOf(machine, devices.front());
  const auto batch = static_cast<size_t>(batchOf(*graph));
  std::vector<Grid> grids = gridsOf(devices.size(), island);
  llvm::erase_if(grids,
                 [&](const Grid& grid) { return grid.groups > batch || !mayFit(state, grid, capacity); });
  double leastIdle = HUGE_VAL;
  for (const Grid& grid : grids) {
    leastIdle = std::min(leastIdle, idleFactor(grid, batch));
  }
  llvm::erase_if(grids, [&](const Grid& grid) { return idleFactor(grid, batch) > mostIdle * leastIdle; });
  std::vector<std::optional<QuotientPlan>> made(grids.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < grids.size(); i = next++) {
      made[i] = quotientPlan(*graph, machine, devices, grids[i], cost, options);
    }
  };
  std::vector<std::future<void>> others;
  for (unsigned i = 1; i < std::min(std::thread::hardware_concurrency(), mostThreads); ++i) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& other : others) {
    other.get();
  }
  std::vector<QuotientPlan> plans;
  for (std::optional<QuotientPlan>& plan : made) {
    if (plan) {
      plans.push_back(*std::move(plan));
    }
  }
  std::stable_sort(plans.begin(), plans.end(), [](const QuotientPlan& a, const QuotientPlan& b) {
    return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
  });
  return plans;
}

} // namespace dfc
