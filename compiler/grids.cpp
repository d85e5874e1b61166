#include "compiler/grids.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/pipeline/micro_batches.h"
#include "compiler/split/pipeline/stages.h"
#include "compiler/split/split_within.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

#include <cmath>

namespace dfc {
namespace {

/// Micro-batches of a pipeline, per stage. With m micro-batches and p stages, a device is idle for
/// (p - 1) / (m + p - 1) of a step: less than a fifth for m = 4 p.
constexpr size_t microBatchesPerStage = 4;
/// Price of a second on a link, in seconds of computation. Low, as links are mostly idle during computation.
constexpr double linkPrice = 0.25;
/// Where memory is short, a byte of state or of gradient sums costs as much as this number of transfers of
/// it.
constexpr double transfersOfHeldByte = 4;

class GridSplit {
 public:
  GridSplit(const Graph& graph, const GridRows& rows, const Machine& machine, const CostModel& cost)
      : graph_(graph), given_(rows), machine_(machine), cost_(cost) {}

  /// `split`: over the groups. `choices`: of its micro-batches; null for one.
  std::optional<SplitGraph> run(std::optional<SplitGraph> split, const BatchChoices* choices,
                                const MicroBatches& batches) const {
    if (choices != nullptr) {
      auto made = microBatches(split->graph, *choices, batches.made.value_or(batches.count));
      if (!made) {
        return std::nullopt;
      }
      split->graph = *std::move(made);
      split->movements.clear(); // their value ids are those of the replaced graph
    }
    if (given_.grid.width == 1) {
      return split;
    }
    const Mesh mesh = meshOf(given_.groups.front());
    SplitPrices prices = pricesOn(mesh, batches.memory);
    const auto count = static_cast<double>(batches.count);
    prices.microBatches = count / static_cast<double>(batches.made.value_or(batches.count));
    prices.byte *= count; // beside what each micro-batch sends
    return splitWithin(*std::move(split), given_.groups, mesh, machine_, cost_, prices);
  }

  /// The graph split over the groups of each stage, each group represented by its first device.
  std::optional<SplitGraph> overGroups(bool inMicroBatches, MemoryUse memory) const {
    const Grid& grid = given_.grid;
    Rows rows{given_.stages, SideTable<OpId, uint32_t>(graph_.opCount(), 0)};
    if (grid.stages > 1) {
      rows.of = stagesOf(graph_, static_cast<uint32_t>(grid.stages), machine_, cost_,
                         given_.stages.front().front());
    }
    rows.inputsInParts = grid.stages > 1 || inMicroBatches; // micro-batches are made from parts of the inputs
    SplitPlan plan = grid.groups == 1 ? wholePlan(std::move(rows)) : splitPlan(std::move(rows), memory);
    if (!std::isfinite(plan.seconds)) {
      return std::nullopt;
    }
    plan.splitAgain = grid.width > 1;
    SplitGraph made{{}, std::move(plan), {}, graph_};
    made.grid = {grid.stages, grid.groups, 1};
    made.graph = expandSplit(graph_, made.plan, machine_, &made.movements);
    return made;
  }

 private:
  Mesh meshOf(const std::vector<DeviceId>& row) const {
    return given_.mirrored ? mirroredMesh(row, machine_, cost_) : meshOfAll(row, graph_, machine_, cost_);
  }

  SplitPlan splitPlan(Rows rows, MemoryUse memory) const {
    const Mesh mesh = meshOf(rows.devices.front());
    const OptionSpace space = given_.grid.width == 1        ? OptionSpace::Useful
                              : memory == MemoryUse::Little ? OptionSpace::OfGroupsInParts
                                                            : OptionSpace::OfGroups;
    return SplitChoices(graph_, mesh, linked(std::move(rows), machine_, cost_), machine_, cost_, space)
        .choose(pricesOn(mesh, memory));
  }

  static SplitPrices pricesOn(const Mesh& mesh, MemoryUse memory) {
    SplitPrices prices{.link = linkPrice};
    if (memory == MemoryUse::Little && mesh.bandwidth > 0) {
      prices.byte = transfersOfHeldByte / mesh.bandwidth;
    }
    return prices;
  }

  // The plan of a pipeline without tensor or data parallelism: each op runs, unsplit, on the device of its
  // stage.
  SplitPlan wholePlan(Rows rows) const {
    const DeviceId device = rows.devices.front().front();
    SplitPlan plan{meshOfAll({device}, graph_, machine_, cost_), SideTable<OpId, OpOption>(graph_.opCount())};
    plan.rows = std::move(rows);
    plan.opSeconds = SideTable<OpId, double>(graph_.opCount(), 0);
    for (const OpId op : graph_.ops()) {
      const bool fed = graph_[op].kind() == OpKind::Input;
      plan.option[op] = wholeOption(graph_, op, fed ? OpOption::Form::OnOne : OpOption::Form::OnAll);
      plan.opSeconds[op] = cost_.opSeconds(graph_, op, machine_, device);
    }
    return plan;
  }

  const Graph& graph_;
  const GridRows& given_;
  const Machine& machine_;
  const CostModel& cost_;
};

class Grids {
 public:
  Grids(const Graph& graph, const Machine& machine, const CostModel& cost, const KnownSeconds& known,
        MayGain mayGain)
      : mayGain_(mayGain), graph_(unfoldBatchNorms(graph)), machine_(machine), cost_(cost), most_(known.best),
        alone_(std::isfinite(known.oneDevice) ? known.oneDevice : 0) {}

  std::vector<SplitGraph> run() {
    std::vector<SplitGraph> candidates;
    for (const Mesh& mesh : candidateMeshes(graph_, machine_, cost_)) {
      const size_t domain =
          mesh.alike && mayGain_(mesh.devices) ? domainSize(mesh.devices, machine_, cost_) : 0;
      for (size_t width = 1; width <= domain && mesh.size() % width == 0 && domain % width == 0; width *= 2) {
        for (size_t stages = 1; mesh.size() / width % stages == 0; stages *= 2) {
          const Grid grid{stages, mesh.size() / width / stages, width};
          const bool along = grid.isPlain() || (grid.stages == 1 && grid.groups == 1);
          if (!along && estimate(mesh.devices, stages) < most_) {
            add(mesh.devices, grid, candidates);
          }
        }
      }
    }
    return candidates;
  }

 private:
  MayGain mayGain_;

  // Estimate of a step without communication, from the step of one device: the work is divided by the number
  // of devices, launches are repeated for each micro-batch, and stages idle while the pipeline fills and
  // drains.
  double estimate(llvm::ArrayRef<DeviceId> devices, size_t stages) const {
    double all = 0, work = 0;
    for (const OpId op : graph_.ops()) {
      const double seconds = cost_.opSeconds(graph_, op, machine_, devices.front());
      if (!std::isfinite(seconds)) { // a custom op of the CPU
        return seconds;
      }
      all += seconds;
      work += seconds * cost_.utilisation(graph_, op, machine_, devices.front());
    }
    const double ofWork = all > 0 ? work / all : 0;
    const auto count = static_cast<double>(stages);
    const size_t batches = microBatchCount({stages, 1, 1});
    const double launches = (1 - ofWork) * static_cast<double>(batches) / count;
    return alone_ * (ofWork / static_cast<double>(devices.size()) + launches) *
           pipelineFactor(batches, stages);
  }

  void add(llvm::ArrayRef<DeviceId> devices, const Grid& grid, std::vector<SplitGraph>& candidates) const {
    const GridRows rows = gridRows(devices, grid);
    for (size_t batches = microBatchCount(grid); batches >= grid.stages; batches /= 2) {
      if (auto candidate = splitOverGrid(graph_, rows, machine_, cost_, {batches})) {
        candidate->description = describe(grid, devices) + microBatchText(batches);
        candidates.push_back(*std::move(candidate));
        return;
      }
    }
  }

  std::string describe(const Grid& grid, llvm::ArrayRef<DeviceId> devices) const {
    const std::string range = fmt::format("{} to {}", machine_.devices[devices.front()].name,
                                          machine_.devices[devices.back()].name);
    const std::string groups =
        fmt::format("{} of {} devices: {}", counted(grid.groups, "group"), grid.width, range);
    return grid.stages == 1  ? fmt::format("split over {}", groups)
           : grid.width == 1 ? fmt::format("pipeline of {} stages over {}", grid.stages, range)
                             : fmt::format("pipeline of {} stages, each of {}", grid.stages, groups);
  }

  Graph graph_;
  const Machine& machine_;
  const CostModel& cost_;
  double most_, alone_; // seconds
};

} // namespace

GridRows gridRows(llvm::ArrayRef<DeviceId> devices, const Grid& grid) {
  GridRows rows{grid, std::vector<std::vector<DeviceId>>(grid.stages), {}};
  for (size_t first = 0; first < devices.size(); first += grid.width) {
    const auto group = devices.slice(first, grid.width);
    rows.groups.emplace_back(group.begin(), group.end());
    rows.stages[first / grid.width / grid.groups].push_back(group.front());
  }
  return rows;
}

size_t microBatchCount(const Grid& grid) { return grid.stages == 1 ? 1 : microBatchesPerStage * grid.stages; }

size_t evenMicroBatches(size_t most, size_t length) {
  while (most > 1 && length % most != 0) {
    --most;
  }
  return most;
}

std::string microBatchText(size_t count) { return count > 1 ? fmt::format(", {} micro-batches", count) : ""; }

double pipelineFactor(size_t microBatches, size_t stages) {
  return static_cast<double>(microBatches + stages - 1) / static_cast<double>(microBatches);
}

std::optional<SplitGraph> splitOverGrid(const Graph& graph, const GridRows& rows, const Machine& machine,
                                        const CostModel& cost, const MicroBatches& batches) {
  return GridSplitter(graph, rows, machine, cost).split(batches);
}

std::optional<SplitGraph> GridSplitter::split(const MicroBatches& batches) {
  const std::optional<SplitGraph>& split = overGroups(batches.count > 1, batches.memory);
  if (!split) {
    return std::nullopt;
  }
  if (batches.count > 1 && (!choices_ || choices_->count() != batches.count || choicesOf_ != &*split)) {
    auto choices = std::make_unique<BatchChoices>(split->graph, batches.count);
    choices->choose();
    choices_ = std::move(choices);
    choicesOf_ = &*split;
  }
  return GridSplit(graph_, rows_, machine_, cost_)
      .run(split, batches.count > 1 ? choices_.get() : nullptr, batches);
}

int64_t GridSplitter::batchOfGroup() {
  const std::optional<SplitGraph>& split = overGroups(true, MemoryUse::Ample);
  return split ? batchLength(split->graph) : 0;
}

const std::optional<SplitGraph>& GridSplitter::overGroups(bool inMicroBatches, MemoryUse memory) {
  const auto of = std::pair(inMicroBatches, rows_.grid.groups > 1 ? memory : MemoryUse::Ample);
  auto found = overGroups_.find(of);
  if (found == overGroups_.end()) {
    const GridSplit split(graph_, rows_, machine_, cost_);
    found = overGroups_.emplace(of, split.overGroups(inMicroBatches, of.second)).first;
  }
  return found->second;
}

std::vector<SplitGraph> batchesInLittleMemory(const Graph& written, size_t microBatches,
                                              const Machine& machine, const CostModel& cost,
                                              MayGain mayGain) {
  std::vector<SplitGraph> candidates;
  if (machine.devices.size() < 2 || !maySplit(written)) {
    return candidates;
  }
  const Graph graph = unfoldBatchNorms(written);
  for (const std::vector<DeviceId>& devices : deviceClasses(machine)) {
    if (devices.size() < 2 || !mayGain(devices)) {
      continue;
    }
    const GridRows rows = gridRows(devices, {1, 1, devices.size()});
    if (auto candidate =
            splitOverGrid(graph, rows, machine, cost, {microBatches, std::nullopt, MemoryUse::Little})) {
      candidate->description =
          fmt::format("split over {} to {}, state in parts{}", machine.devices[devices.front()].name,
                      machine.devices[devices.back()].name, microBatchText(microBatches));
      candidates.push_back(*std::move(candidate));
    }
  }
  return candidates;
}

std::vector<SplitGraph> gridCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                       const KnownSeconds& known, MayGain mayGain) {
  return machine.devices.size() > 1 && maySplit(graph) ? Grids(graph, machine, cost, known, mayGain).run()
                                                       : std::vector<SplitGraph>();
}

} // namespace dfc
