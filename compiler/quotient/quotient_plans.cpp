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

/// A pipeline has at least one micro-batch for so many stages.
constexpr size_t stagesPerMicroBatch = 4;
constexpr size_t mostStages = 64;
constexpr unsigned mostThreads = 8; // each simulates a grid of its own
/// Numbers of micro-batches that are simulated; other numbers are extrapolated.
constexpr size_t few = 1, more = 2;

/// A simulated step: its seconds, and for each stage memory and computation.
struct Simulated {
  double seconds = 0;
  std::vector<double> state, working; // bytes of parameters and optimiser state; of other values
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

// Linear extrapolation to `count` micro-batches. A further micro-batch takes the difference of the two
// simulated steps, and at least the computation that it adds to the busiest stage.
double extrapolated(const Simulated& withFew, const Simulated& withMore, size_t count) {
  double growth = withMore.seconds - withFew.seconds;
  for (size_t stage = 0; stage < withFew.busy.size(); ++stage) {
    growth = std::max(growth, withMore.busy[stage] - withFew.busy[stage]);
  }
  return std::max(withFew.seconds, withMore.seconds) +
         growth / (more - few) * (static_cast<double>(count) - static_cast<double>(more));
}

std::string describe(const Grid& grid, size_t microBatches) {
  const std::string groups =
      fmt::format("{} of {}", counted(grid.groups, "group"), counted(grid.width, "device"));
  return grid.stages > 1 ? fmt::format("pipeline of {} stages, each of {}{}", grid.stages, groups,
                                       microBatchText(microBatches))
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

// Lower estimate of memory. State is divided among the devices of a group. If a group is one device, it holds
// the whole weights of its stage; an optimiser's two moments may lie in other groups.
bool mayFit(double state, const Grid& grid, double capacity) {
  const size_t spread = grid.width > 1 ? grid.width : std::min<size_t>(grid.groups, 3);
  return state / static_cast<double>(grid.stages * spread) <= capacity;
}

/// `pipelineFactor` with as many micro-batches as the batch divides into.
double idleFactor(const Grid& grid, size_t batch) {
  size_t count = microBatchCount(grid);
  while (count > 1 && batch / grid.groups % count != 0) {
    count /= 2;
  }
  return pipelineFactor(count, grid.stages);
}

/// Largest ratio of a grid's `idleFactor` to the least one; grids above it are not simulated.
constexpr double mostIdle = 1.5;

// Groups are single devices or whole interconnect domains.
std::vector<Grid> gridsOf(size_t devices, size_t domain) {
  std::vector<Grid> grids;
  for (size_t width = 1; width <= domain; width = width == 1 ? std::max<size_t>(domain, 2) : domain + 1) {
    for (size_t stages = 1; stages <= mostStages && devices % (width * stages) == 0; stages *= 2) {
      grids.push_back({stages, devices / width / stages, width});
    }
  }
  return grids;
}

} // namespace

std::vector<DeviceId> largestClass(const Machine& machine) {
  std::vector<DeviceId> largest;
  for (std::vector<DeviceId>& one : deviceClasses(machine)) {
    llvm::erase_value(one, machine.host());
    if (one.size() > largest.size()) {
      largest = std::move(one);
    }
  }
  return largest;
}

std::optional<QuotientPlan> quotientPlan(const Graph& rewritten, const Machine& machine,
                                         llvm::ArrayRef<DeviceId> devices, const Grid& grid,
                                         const CostModel& cost, const CompileOptions& options) {
  const Graph graph = unfoldBatchNorms(takeCuts(rewritten).graph);
  const QuotientMachine quotient = quotientMachine(machine, devices, grid, cost);
  QuotientPlan plan{grid, 1, 0, 0, 0, true, "", {}};
  std::optional<SplitGraph> split;
  std::optional<Simulated> last;
  const size_t least = std::max<size_t>(grid.stages / stagesPerMicroBatch, 1);
  for (size_t count = microBatchCount(grid); count >= least && !last; count /= 2) {
    const auto simulate = [&](size_t made) {
      split = splitOverGrid(graph, quotient.rows, quotient.machine, cost, {count, made});
      return split ? simulated(split->graph, quotient, cost, options) : std::nullopt;
    };
    plan.microBatches = count;
    last = simulate(few);
    plan.seconds = last ? last->seconds : 0;
    if (last && count > few) {
      const Simulated withFew = *std::move(last);
      last = simulate(more);
      plan.seconds = last ? extrapolated(withFew, *last, count) : 0;
    }
  }
  if (!last) {
    return std::nullopt;
  }
  for (size_t stage = 0; stage < grid.stages; ++stage) {
    const size_t inFlight = grid.stages == 1 ? 1 : std::min(plan.microBatches, grid.stages - stage);
    const double bytes = last->state[stage] + static_cast<double>(inFlight) * last->working[stage];
    if (bytes > plan.memoryBytes) {
      plan.memoryBytes = bytes;
      plan.stateBytes = last->state[stage];
    }
  }
  plan.fits = plan.memoryBytes <= capacityOf(machine, devices.front());
  plan.description = describe(grid, plan.microBatches);
  plan.split = *std::move(split);
  plan.split.description = plan.description;
  return plan;
}

Result<std::vector<QuotientPlan>> quotientPlans(const Graph& written, const Machine& machine,
                                                const CostModel& cost, const CompileOptions& given) {
  CompileOptions options = given;
  options.observer = nullptr; // it is not thread-safe, and trials are not observed
  auto expanded = runPasses(PassPhase::Expand, written, machine, options);
  auto graph = expanded ? runPasses(PassPhase::Rewrite, *std::move(expanded), machine, options)
                        : Result<Graph>(expanded.errors());
  if (!graph) {
    return graph.errors();
  }
  const std::vector<DeviceId> devices = largestClass(machine);
  if (devices.empty()) {
    return std::vector<QuotientPlan>();
  }
  const size_t domain = domainSize(devices, machine, cost);
  const double state = parameterBytes(*graph), capacity = capacityOf(machine, devices.front());
  const auto batch = static_cast<size_t>(batchOf(*graph));
  std::vector<Grid> grids = gridsOf(devices.size(), domain);
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
