#include "compiler/pipelines.h"

#include "compiler/split/choose_split.h"
#include "compiler/split/expand_split.h"
#include "compiler/split/pipeline/micro_batches.h"
#include "compiler/split/pipeline/stages.h"
#include "compiler/split/unfold_batch_norms.h"

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

class Pipelines {
 public:
  Pipelines(const Graph& graph, const Machine& machine, const CostModel& cost, double seconds)
      : graph_(unfoldBatchNorms(graph)), machine_(machine), cost_(cost), most_(seconds) {}

  std::vector<SplitGraph> run() {
    std::vector<SplitGraph> candidates;
    for (const Mesh& mesh : candidateMeshes(graph_, machine_, cost_)) {
      for (size_t stages = 2; mesh.alike && stages <= mesh.size(); stages *= 2) {
        if (mesh.size() % stages == 0 && leastSeconds(mesh.devices, stages) < most_) {
          add(mesh.devices, stages, candidates);
        }
      }
    }
    return candidates;
  }

 private:
  // Of the stages' computation: launches once for each part of the batch, work shared by all devices; and the
  // first and last parts find the other stages idle.
  double leastSeconds(llvm::ArrayRef<DeviceId> devices, size_t stages) const {
    double launches = 0, work = 0;
    for (const OpId op : graph_.ops()) {
      const double seconds = cost_.opSeconds(graph_, op, machine_, devices.front());
      if (!std::isfinite(seconds)) { // a custom op of the CPU
        return seconds;
      }
      const double share = seconds * cost_.utilisation(graph_, op, machine_, devices.front());
      work += share;
      launches += seconds - share;
    }
    const auto count = static_cast<double>(stages), parts = static_cast<double>(partsAStage) * count;
    return (work / static_cast<double>(devices.size()) + launches * parts / count) * (parts + count - 1) /
           parts;
  }

  void add(llvm::ArrayRef<DeviceId> devices, size_t stages, std::vector<SplitGraph>& candidates) const {
    const size_t width = devices.size() / stages;
    Stages made;
    for (size_t stage = 0; stage < stages; ++stage) {
      const auto row = devices.slice(stage * width, width);
      made.rows.emplace_back(row.begin(), row.end());
    }
    made.of = stagesOf(graph_, static_cast<uint32_t>(stages), machine_, cost_, devices.front());
    SplitPlan plan = width == 1 ? wholePlan(devices.front()) : splitPlan(made.rows.front());
    if (!std::isfinite(plan.seconds)) {
      return;
    }
    plan.stages = std::move(made);
    SplitGraph candidate{{}, std::move(plan), {}, graph_, {}};
    const Graph split = expandSplit(graph_, candidate.plan, machine_, &candidate.movements);
    for (size_t parts = partsAStage * stages; parts >= stages; parts /= 2) {
      if (auto batches = microBatches(split, parts)) {
        candidate.graph = *std::move(batches);
        candidate.description =
            fmt::format("pipeline of {} stages over {} to {}, the batch in {} parts", stages,
                        machine_.devices[devices.front()].name, machine_.devices[devices.back()].name, parts);
        candidates.push_back(std::move(candidate));
        return;
      }
    }
  }

  SplitPlan splitPlan(const std::vector<DeviceId>& row) const {
    return SplitChoices(graph_, meshOfAll(row, graph_, machine_, cost_), machine_, cost_).choose(linkPrice);
  }

  // Every op whole, on the one device of its stage.
  SplitPlan wholePlan(DeviceId device) const {
    SplitPlan plan{meshOfAll({device}, graph_, machine_, cost_), SideTable<OpId, OpOption>(graph_.opCount())};
    plan.opSeconds = SideTable<OpId, double>(graph_.opCount(), 0);
    for (const OpId op : graph_.ops()) {
      OpOption& option = plan.option[op];
      const bool fed = graph_[op].kind() == OpKind::Input;
      option.form = fed ? OpOption::Form::OnOne : OpOption::Form::OnAll;
      option.operands.assign(graph_[op].operands.size(), Layout::onAll());
      option.results.assign(graph_[op].resultCount, fed ? Layout::onOne() : Layout::onAll());
      plan.opSeconds[op] = cost_.opSeconds(graph_, op, machine_, device);
    }
    return plan;
  }

  Graph graph_;
  const Machine& machine_;
  const CostModel& cost_;
  double most_; // seconds
};

} // namespace

std::vector<SplitGraph> pipelineCandidates(const Graph& graph, const Machine& machine, const CostModel& cost,
                                           double seconds) {
  return machine.devices.size() > 1 && maySplit(graph) ? Pipelines(graph, machine, cost, seconds).run()
                                                       : std::vector<SplitGraph>();
}

} // namespace dfc
