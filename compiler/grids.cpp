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

/// Micro-batches for each stage. Of m micro-batches and p stages the idle part of a step is
/// (p - 1) / (m + p - 1): with 4 p micro-batches less than a fifth.
constexpr size_t partsAStage = 4;
/// Of a second on a link, in seconds of computation, for the split within a stage, which uses few links.
constexpr double linkPrice = 0.25;

class Grids {
 public:
  Grids(const Graph& graph, const Machine& machine, const CostModel& cost, const KnownSeconds& known)
      : graph_(unfoldBatchNorms(graph)), machine_(machine), cost_(cost), most_(known.best),
        alone_(std::isfinite(known.alone) ? known.alone : 0) {}

  std::vector<SplitGraph> run() {
    std::vector<SplitGraph> candidates;
    for (const Mesh& mesh : candidateMeshes(graph_, machine_, cost_)) {
      const size_t island = mesh.alike ? islandSize(mesh.devices, machine_, cost_) : 0;
      for (size_t width = 1; width <= island && mesh.size() % width == 0; width *= 2) {
        for (size_t stages = 1; mesh.size() / width % stages == 0; stages *= 2) {
          const Grid grid{stages, mesh.size() / width / stages, width};
          const bool along = grid.isPlain() || (grid.stages == 1 && grid.groups == 1);
          if (!along && leastSeconds(mesh.devices, stages) < most_) {
            add(mesh.devices, grid, candidates);
          }
        }
      }
    }
    return candidates;
  }

 private:
  // Of the stages' computation, by that of one device: its work, shared by all devices, and its launches,
  // once for each part of the batch; and the first and last parts find the other stages idle.
  double leastSeconds(llvm::ArrayRef<DeviceId> devices, size_t stages) const {
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
    const double parts = stages == 1 ? 1 : static_cast<double>(partsAStage) * count;
    return alone_ * (ofWork / static_cast<double>(devices.size()) + (1 - ofWork) * parts / count) *
           (parts + count - 1) / parts;
  }

  void add(llvm::ArrayRef<DeviceId> devices, const Grid& grid, std::vector<SplitGraph>& candidates) const {
    std::vector<std::vector<DeviceId>> groups;
    std::vector<DeviceId> heads;
    for (size_t first = 0; first < devices.size(); first += grid.width) {
      const auto group = devices.slice(first, grid.width);
      groups.emplace_back(group.begin(), group.end());
      heads.push_back(group.front());
    }
    auto candidate = overHeads(heads, grid);
    if (candidate && grid.width > 1) {
      candidate = splitWithin(*std::move(candidate), groups, machine_, cost_, linkPrice);
    }
    if (!candidate) {
      return;
    }
    candidate->description = describe(grid, devices);
    if (grid.stages == 1) {
      candidates.push_back(*std::move(candidate));
      return;
    }
    for (size_t parts = partsAStage * grid.stages; parts >= grid.stages; parts /= 2) {
      if (auto batches = microBatches(candidate->graph, parts)) {
        candidate->graph = *std::move(batches);
        candidate->description += fmt::format(", the batch in {} parts", parts);
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

  /// The graph over the first devices of the groups, a stage after the other.
  std::optional<SplitGraph> overHeads(const std::vector<DeviceId>& heads, const Grid& grid) const {
    Rows rows;
    for (size_t stage = 0; stage < grid.stages; ++stage) {
      const auto first = heads.begin() + static_cast<ptrdiff_t>(stage * grid.groups);
      rows.devices.emplace_back(first, first + static_cast<ptrdiff_t>(grid.groups));
    }
    rows.of = grid.stages == 1
                  ? SideTable<OpId, uint32_t>(graph_.opCount(), 0)
                  : stagesOf(graph_, static_cast<uint32_t>(grid.stages), machine_, cost_, heads.front());
    SplitPlan plan =
        grid.groups == 1 ? wholePlan(std::move(rows)) : splitPlan(std::move(rows), grid.width > 1);
    if (!std::isfinite(plan.seconds)) {
      return std::nullopt;
    }
    SplitGraph made{{}, std::move(plan), {}, graph_};
    made.grid = {grid.stages, grid.groups, 1};
    made.graph = expandSplit(graph_, made.plan, machine_, &made.movements);
    return made;
  }

  SplitPlan splitPlan(Rows rows, bool ofGroups) const {
    const Mesh mesh = meshOfAll(rows.devices.front(), graph_, machine_, cost_);
    return SplitChoices(graph_, mesh, linked(std::move(rows), graph_, machine_, cost_), machine_, cost_,
                        ofGroups ? OptionSpace::OfGroups : OptionSpace::Useful)
        .choose({.link = linkPrice});
  }

  // Every op whole, on the one device of its stage.
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

  Graph graph_;
  const Machine& machine_;
  const CostModel& cost_;
  double most_, alone_; // seconds
};

} // namespace

std::vector<SplitGraph> gridCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                       const KnownSeconds& known) {
  return machine.devices.size() > 1 && maySplit(graph) ? Grids(graph, machine, cost, known).run()
                                                       : std::vector<SplitGraph>();
}

} // namespace dfc
