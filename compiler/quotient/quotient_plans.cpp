#include "compiler/quotient/quotient_plans.h"

#include "compiler/run_passes.h"
#include "compiler/split/mesh.h"
#include "compiler/threads/for_each.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <memory>

namespace dfc {
namespace {

constexpr size_t mostStages = 64;
/// More micro-batches are tried, and all are simulated, for plans of at most this multiple of the seconds of
/// the best that fits.
constexpr double mostOfBest = 1.1;

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

// Lower estimate of memory. A group divides the state of its stage among its devices. A group of one device
// holds all weights of its stage, and a third of its state: the two moments of an optimiser like Adam may be
// sharded over other groups.
bool mayFit(double state, const Grid& grid, double capacity) {
  const size_t spread = grid.width > 1 ? grid.width : std::min<size_t>(grid.groups, 3);
  return state / static_cast<double>(grid.stages * spread) <= capacity;
}

double idleFactor(const Grid& grid, size_t batch) {
  return pipelineFactor(evenMicroBatches(microBatchCount(grid), batch / grid.groups), grid.stages);
}

/// Largest ratio of a grid's `idleFactor` to the least one; grids above it are not simulated.
constexpr double mostIdle = 1.5;

// Groups have as many devices as divide an interconnect domain, such as the GPUs of a host.
std::vector<Grid> gridsOf(size_t devices, size_t domain) {
  std::vector<Grid> grids;
  for (size_t width = 1; width <= domain; ++width) {
    if (domain % width != 0 || devices % width != 0) {
      continue;
    }
    for (size_t stages = 1; stages <= mostStages && devices % (width * stages) == 0; stages *= 2) {
      grids.push_back({stages, devices / width / stages, width});
    }
  }
  return grids;
}

Diagnostic wrongGrid(const Grid& grid, size_t devices) {
  return errorWithoutPlace(fmt::format("a grid of {} x {} x {} has {}, but the machine has {} alike",
                                       grid.stages, grid.groups, grid.width,
                                       counted(grid.stages * grid.groups * grid.width, "device"), devices),
                           "stages times groups times devices per group are all devices of the most frequent "
                           "kind, without the host");
}

/// Every grid worth a simulation.
std::vector<Grid> usefulGrids(const Graph& graph, const Machine& machine, llvm::ArrayRef<DeviceId> devices,
                              size_t domain) {
  const double state = parameterBytes(graph), capacity = capacityOf(machine, devices.front());
  const auto batch = static_cast<size_t>(batchOf(graph));
  std::vector<Grid> grids = gridsOf(devices.size(), domain);
  if (devices.size() > mostPlannedDevices) { // for the time that simulations take
    llvm::erase_if(grids, [&](const Grid& grid) { return grid.width > 1 && grid.width < domain; });
  }
  llvm::erase_if(grids,
                 [&](const Grid& grid) { return grid.groups > batch || !mayFit(state, grid, capacity); });
  double leastIdle = HUGE_VAL;
  for (const Grid& grid : grids) {
    leastIdle = std::min(leastIdle, idleFactor(grid, batch));
  }
  llvm::erase_if(grids, [&](const Grid& grid) { return idleFactor(grid, batch) > mostIdle * leastIdle; });
  return grids;
}

// Null where there is none.
const QuotientPlan* bestOf(llvm::ArrayRef<std::optional<QuotientPlan>> plans) {
  const QuotientPlan* best = nullptr;
  for (const std::optional<QuotientPlan>& plan : plans) {
    best = plan && (best == nullptr || isBetter(*plan, *best)) ? &*plan : best;
  }
  return best;
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

Result<std::vector<QuotientPlan>> quotientPlans(const Graph& written, const Machine& machine,
                                                const CostModel& cost, const CompileOptions& given,
                                                const std::optional<WantedGrid>& wanted) {
  CompileOptions options = given;
  options.observer = nullptr; // it is not thread-safe, and trials are not observed
  auto expanded = runPasses(PassPhase::Expand, written, machine, options);
  auto graph = expanded ? runPasses(PassPhase::Rewrite, *std::move(expanded), machine, options)
                        : Result<Graph>(expanded.errors());
  if (!graph) {
    return graph.errors();
  }
  const std::vector<DeviceId> devices = largestClass(machine);
  std::vector<WantedGrid> grids;
  if (wanted) {
    const Grid& grid = wanted->grid;
    if (grid.stages * grid.groups * grid.width != devices.size()) {
      return Diagnostics{wrongGrid(grid, devices.size())};
    }
    grids.push_back(*wanted);
  }
  if (devices.empty()) {
    return std::vector<QuotientPlan>();
  }
  const size_t domain = domainSize(devices, machine, cost);
  const std::vector<Grid> useful = usefulGrids(*graph, machine, devices, domain);
  for (const Grid& grid : useful) {
    if (!wanted || wanted->microBatches || !(grid == wanted->grid)) {
      grids.push_back({grid});
    }
  }
  std::vector<std::optional<QuotientPlan>> made(grids.size());
  std::vector<std::unique_ptr<QuotientPlanner>> planners(grids.size());
  forEach(grids.size(), [&](size_t turn) { // long pipelines first, which take longest
    const size_t i = grids.size() - 1 - turn;
    planners[i] = std::make_unique<QuotientPlanner>(*graph, machine, devices, grids[i], cost, options);
    made[i] = planners[i]->first();
  });
  const QuotientPlan* best = bestOf(made);
  const bool anyFits = best != nullptr && best->fits;
  const double most = anyFits ? mostOfBest * best->seconds : HUGE_VAL;
  const auto isWanted = [&](size_t i) { return wanted && i == 0; };
  forEach(made.size(), [&](size_t turn) {
    const size_t i = grids.size() - 1 - turn;
    if (made[i] && (isWanted(i) || made[i]->seconds <= most) && !grids[i].microBatches) {
      made[i] = planners[i]->improved(*std::move(made[i]));
    }
  });
  best = bestOf(made);
  const bool noneFits = best != nullptr && !best->fits;
  forEach(made.size(), [&](size_t i) {
    if (made[i] && (isWanted(i) || noneFits)) {
      made[i] = planners[i]->simulated(*std::move(made[i]));
    }
  });
  const double close = best != nullptr ? mostOfBest * best->seconds : 0;
  forEach(made.size(), [&](size_t turn) {
    const size_t i = grids.size() - 1 - turn;
    if (made[i] && !made[i]->isBound && (isWanted(i) || made[i]->seconds <= close)) {
      made[i] = planners[i]->simulatedWhole(*std::move(made[i]));
    }
  });
  if (wanted && !made.front()) {
    return Diagnostics{errorWithoutPlace(
        "the graph cannot be split over that grid: it has too few layers, or its batch is not a multiple of "
        "groups times micro-batches",
        "name fewer stages, or groups and micro-batches that divide the batch")};
  }
  if (wanted) {
    made.front()->isOwn = !wanted->microBatches && llvm::is_contained(useful, wanted->grid);
  }
  std::vector<QuotientPlan> plans;
  for (std::optional<QuotientPlan>& plan : made) {
    if (plan) {
      plans.push_back(*std::move(plan));
    }
  }
  std::stable_sort(plans.begin() + (wanted ? 1 : 0), plans.end(), isBetter);
  return plans;
}

} // namespace dfc
