#include "compiler/quotient/quotient_plan.h"

#include "compiler/lower_options.h"
#include "compiler/place/place.h"
#include "compiler/quotient/quotient_machine.h"
#include "compiler/quotient/stage_memory.h"
#include "compiler/rematerialise/rematerialise.h"
#include "compiler/run_passes.h"
#include "compiler/split/take_cuts.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"
#include "ir/graph/micro_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace dfc {
namespace {

/// A pipeline of p stages has at least p / stagesPerMicroBatch micro-batches.
constexpr size_t stagesPerMicroBatch = 4;
/// Numbers of micro-batches that are simulated; other numbers are extrapolated.
constexpr size_t few = 1, more = 2;
/// The number of micro-batches of a plan that does not fit is doubled as long as that leaves less than this
/// part of its memory.
constexpr double lessMemory = 0.9;

/// A simulated step: its seconds, and those of computation by stage.
struct Simulated {
  double seconds = 0;
  std::vector<double> busy;
};

// Linear extrapolation to `count` micro-batches. A further micro-batch takes the difference of the two
// simulated steps, between two bounds: at least the computation that it adds to the busiest stage, at most
// that plus one stage's share of the waits of a single micro-batch. With only two micro-batches in a deep
// pipeline, the list scheduler lets the second one wait longer than in a full pipeline.
double extrapolated(const Simulated& withFew, const Simulated& withMore, size_t count) {
  double least = 0, computed = 0; // of the micro-batch: in the busiest stage, and in all
  for (size_t stage = 0; stage < withFew.busy.size(); ++stage) {
    const double added = withMore.busy[stage] - withFew.busy[stage];
    least = std::max(least, added);
    computed += added;
  }
  const double waits = std::max(0.0, withFew.seconds - computed) / static_cast<double>(withFew.busy.size());
  const double growth = std::clamp(withMore.seconds - withFew.seconds, least, least + waits);
  return std::max(withFew.seconds, withMore.seconds) +
         growth / (more - few) * (static_cast<double>(count) - static_cast<double>(more));
}

std::string describe(const Grid& grid, size_t microBatches) {
  const std::string groups =
      fmt::format("{} of {}", counted(grid.groups, "group"), counted(grid.width, "device"));
  return (grid.stages > 1 ? fmt::format("pipeline of {} stages, each of {}", grid.stages, groups) : groups) +
         microBatchText(microBatches);
}

/// The least number of micro-batches of equal length from `least` on; 0 for none.
size_t evenFrom(size_t least, size_t length) {
  for (; least <= length && length % least != 0; ++least) {
  }
  return least <= length ? least : 0;
}

} // namespace

class QuotientPlanner::Planner {
 public:
  Planner(const Graph& rewritten, const Machine& machine, llvm::ArrayRef<DeviceId> devices,
          const WantedGrid& wanted, const CostModel& cost, const CompileOptions& options)
      : graph_(unfoldBatchNorms(takeCuts(rewritten).graph)),
        quotient_(quotientMachine(machine, devices, wanted.grid, cost)), wanted_(wanted), cost_(cost),
        options_(options), splitter_(graph_, quotient_.rows, quotient_.machine, cost_) {
    const int64_t bytes = machine.devices[devices.front()].memoryBytes;
    capacity_ = bytes > 0 ? static_cast<double>(bytes) : HUGE_VAL;
  }

  std::optional<QuotientPlan> first() {
    if (wanted_.microBatches) {
      return with(*wanted_.microBatches, Seconds::Predicted);
    }
    const size_t length = grid_.stages > 1 ? batchLength() : 1;
    const size_t least = std::max<size_t>(grid_.stages / stagesPerMicroBatch, 1);
    std::optional<QuotientPlan> plan;
    for (size_t most = microBatchCount(grid_); most >= least && !plan;) {
      const size_t count = evenMicroBatches(most, length);
      plan = with(count, Seconds::OfThoseThatFit);
      most = count - 1;
    }
    return plan;
  }

  // More micro-batches: shorter times of idle stages, and less memory.
  QuotientPlan improved(QuotientPlan best) {
    double bytes = best.memoryBytes;
    for (size_t count = best.microBatches; mayGain(best);) {
      count = evenFrom(2 * count, batchLength());
      auto next = count > 0 ? with(count, Seconds::OfThoseThatFit) : std::nullopt;
      if (!next) {
        break;
      }
      const bool needsLess = next->memoryBytes < lessMemory * bytes;
      bytes = next->memoryBytes;
      if (isBetter(*next, best)) {
        best = *std::move(next);
      } else if (best.fits || !needsLess) {
        break;
      }
    }
    return best;
  }

  QuotientPlan simulated(QuotientPlan plan) {
    return plan.isBound ? with(plan.microBatches, Seconds::Predicted).value_or(plan) : plan;
  }

 private:
  /// Of which plans the seconds are predicted; others have a lower bound.
  enum class Seconds : uint8_t { Predicted, OfThoseThatFit };

  size_t batchLength() { return static_cast<size_t>(splitter_.batchOfGroup()); }

  std::optional<QuotientPlan> with(size_t count, Seconds seconds) {
    auto plan = with(count, seconds, MemoryUse::Ample);
    if (plan && (!plan->fits || plan->recomputes) && mayUseLittle()) {
      if (auto little = with(count, seconds, MemoryUse::Little); little && isBetter(*little, *plan)) {
        plan = std::move(little);
      }
    }
    return plan;
  }

  std::optional<QuotientPlan> with(size_t count, Seconds seconds, MemoryUse memory) {
    QuotientPlan plan;
    plan.grid = grid_;
    plan.microBatches = count;
    plan.description = describe(grid_, count);
    const auto withFew = placed(plan, few, memory);
    if (!withFew) {
      return std::nullopt;
    }
    const std::optional<Placement> fewer = fitted(plan, *withFew);
    if (!plan.fits && seconds == Seconds::OfThoseThatFit) { // nor do more micro-batches
      plan.seconds = leastSeconds(*withFew, count);
      plan.isBound = true;
    } else if (count == few) {
      plan.seconds = simulated(fewer ? *fewer : *withFew).seconds;
    } else if (!extrapolate(plan, *withFew, memory)) {
      return std::nullopt;
    }
    plan.description = describe(grid_, count) + (plan.recomputes ? ", with recomputation" : "");
    plan.split.description = plan.description;
    return plan;
  }

  // Sets the memory of a plan, and its seconds from those with few and with more micro-batches. False if
  // there is no split. With few, which hold no sums of gradients, as many ops are computed twice as if they
  // held the bytes of more: else the difference would not be that of a micro-batch.
  bool extrapolate(QuotientPlan& plan, const Placement& withFew, MemoryUse memory) {
    const double before = bytesOf(withFew, plan.microBatches);
    const auto withMore = placed(plan, more, memory);
    if (!withMore) {
      return false;
    }
    const std::optional<Placement> several = fitted(plan, *withMore);
    std::optional<Rematerialised> fewer;
    if (several) {
      const double free = capacity_ - plan.stateBytes, added = bytesOf(*withMore, plan.microBatches) - before;
      const InFlight inFlight = this->inFlight(plan.microBatches);
      fewer = rematerialise(withFew, quotient_.machine, cost_, std::max(0.0, 1 - added / free), &inFlight);
    }
    plan.seconds = extrapolated(simulated(fewer ? fewer->placement : withFew),
                                simulated(several ? *several : *withMore), plan.microBatches);
    return true;
  }

  // Pipelines of many devices take long to split.
  bool mayUseLittle() const {
    return grid_.width > 1 &&
           (grid_.stages == 1 || grid_.stages * grid_.groups * grid_.width <= mostPlannedDevices);
  }

  bool mayGain(const QuotientPlan& plan) const { return grid_.stages > 1 || !plan.fits || plan.recomputes; }

  /// Of every stage with its mirrors. The last stage finishes a micro-batch before it begins the next.
  InFlight inFlight(size_t count) const {
    const size_t devices = quotient_.machine.devices.size();
    InFlight made{SideTable<DeviceId, uint32_t>(devices, InFlight::noStage),
                  SideTable<DeviceId, uint32_t>(devices, 1)};
    for (const auto* rows : {&quotient_.rows.stages, &quotient_.rows.groups}) {
      for (size_t row = 0; row < rows->size(); ++row) {
        for (const DeviceId device : (*rows)[row]) {
          made.stage[device] = static_cast<uint32_t>(row);
          made.count[device] = static_cast<uint32_t>(std::min(count, grid_.stages - row));
        }
      }
    }
    return made;
  }

  std::vector<DeviceId> firstOfStages() const {
    std::vector<DeviceId> devices;
    for (const auto& row : quotient_.rows.stages) {
      devices.push_back(row.front());
    }
    return devices;
  }

  double bytesOf(const Placement& placement, size_t microBatches) const {
    const auto all = stageMemory(placement, inFlight(microBatches), firstOfStages(), quotient_.machine).all;
    return *std::max_element(all.begin(), all.end());
  }

  // Sets the memory of a plan, that of the stage that needs most. Where it does not fit: a placement that
  // does, as ops are computed twice, if one is found.
  std::optional<Placement> fitted(QuotientPlan& plan, const Placement& placement) const {
    const InFlight inFlight = this->inFlight(plan.microBatches);
    const StageMemory memory = stageMemory(placement, inFlight, firstOfStages(), quotient_.machine);
    const auto most = std::max_element(memory.all.begin(), memory.all.end());
    plan.memoryBytes = *most;
    plan.stateBytes = memory.state[static_cast<size_t>(most - memory.all.begin())];
    plan.fits = plan.memoryBytes <= capacity_;
    plan.recomputes = false;
    auto repeated =
        plan.fits ? std::nullopt : rematerialise(placement, quotient_.machine, cost_, 1, &inFlight);
    if (!repeated) {
      return std::nullopt;
    }
    plan.memoryBytes = capacity_;
    plan.fits = plan.recomputes = true;
    return std::move(repeated->placement);
  }

  std::optional<Placement> placed(QuotientPlan& plan, size_t made, MemoryUse memory) {
    auto split = splitter_.split({plan.microBatches, made, memory});
    if (!split) {
      return std::nullopt;
    }
    plan.split = *std::move(split);
    auto fused = runPasses(PassPhase::Fuse, plan.split.graph, quotient_.machine, options_);
    auto placed = fused ? place(*fused, quotient_.machine, cost_, "pins") : Result<Placement>(fused.errors());
    return placed ? std::optional(*std::move(placed)) : std::nullopt;
  }

  Simulated simulated(const Placement& placement) const {
    const Machine& machine = quotient_.machine;
    Simulated made;
    LowerOptions lowering = lowerOptionsOf(options_);
    lowering.peerReads = false; // what a mirror holds is not there to be read, and hosts have no peers
    made.seconds = predictedMakespan(placement, decided(placement, machine, cost_, lowering));
    made.busy = busyOf(placement);
    return made;
  }

  /// Seconds of computation by stage, with those of each micro-batch counted `times`.
  std::vector<double> busyOf(const Placement& placement, double times = 1) const {
    const Graph& graph = placement.graph;
    SideTable<DeviceId, double> busy(quotient_.machine.devices.size(), 0);
    for (const OpId op : graph.ops()) {
      const DeviceId device = placement.device[op];
      const double seconds = cost_.opSeconds(graph, op, quotient_.machine, device);
      busy[device] += seconds * (microBatchOf(graph.scopeOf(op)) ? times : 1);
    }
    std::vector<double> ofStages;
    for (const DeviceId device : firstOfStages()) {
      ofStages.push_back(busy[device]);
    }
    return ofStages;
  }

  /// The computation of the busiest stage, from a placement with one micro-batch.
  double leastSeconds(const Placement& placement, size_t count) const {
    const std::vector<double> busy = busyOf(placement, static_cast<double>(count));
    return *std::max_element(busy.begin(), busy.end());
  }

  Graph graph_;
  QuotientMachine quotient_;
  const WantedGrid wanted_;
  const Grid& grid_ = wanted_.grid;
  const CostModel& cost_;
  const CompileOptions& options_;
  GridSplitter splitter_;
  double capacity_ = 0; // bytes of a device
};

bool isBetter(const QuotientPlan& a, const QuotientPlan& b) {
  return std::pair(!a.fits, a.seconds) < std::pair(!b.fits, b.seconds);
}

QuotientPlanner::QuotientPlanner(const Graph& rewritten, const Machine& machine,
                                 llvm::ArrayRef<DeviceId> devices, const WantedGrid& wanted,
                                 const CostModel& cost, const CompileOptions& options)
    : planner_(std::make_unique<Planner>(rewritten, machine, devices, wanted, cost, options)) {}

QuotientPlanner::~QuotientPlanner() = default;

std::optional<QuotientPlan> QuotientPlanner::first() { return planner_->first(); }

QuotientPlan QuotientPlanner::improved(QuotientPlan plan) { return planner_->improved(std::move(plan)); }

QuotientPlan QuotientPlanner::simulated(QuotientPlan plan) { return planner_->simulated(std::move(plan)); }

} // namespace dfc
