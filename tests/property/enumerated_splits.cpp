#include "tests/property/enumerated_splits.h"

#include "compiler/lower_options.h"
#include "compiler/place/cheap_ops.h"
#include "compiler/place/planned_seconds.h"
#include "compiler/place/task_graph_of.h"
#include "compiler/run_passes.h"
#include "compiler/split/bound/bound_splits.h"
#include "compiler/split/relayout_seconds.h"
#include "compiler/split/split.h"
#include "compiler/split/unfold_batch_norms.h"
#include "ir/author/text/print.h"
#include "ir/plan/placed_graph.h"
#include "tests/property/option_choices.h"
#include "tests/support/catch.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>

namespace dfc::test {
namespace {

/// Seconds that a plan takes at least, however its ops are ordered and fused: the products on one device, or
/// what has to cross one link. A little less, as parts may be rounded.
class LeastSeconds {
 public:
  LeastSeconds(const Graph& graph, const SplitChoices& choices, const Mesh& mesh, const Machine& machine)
      : graph_(graph), choices_(choices), mesh_(mesh),
        rate_(machine.devices[mesh.devices.front()].peakFlops[static_cast<size_t>(ElementType::F32)]),
        least_(*std::min_element(mesh.shares.begin(), mesh.shares.end())),
        even_(least_ * static_cast<double>(mesh.size()) > 1 - 1e-9) {}

  /// Of the ops that are decided.
  double of(llvm::ArrayRef<uint32_t> option, const std::vector<bool>& decided) const {
    double products = 0, crossings = 0, longest = 0;
    std::vector<double> crossing(graph_.valueCount(), 0), end(graph_.opCount(), 0);
    for (const OpId op : graph_.ops()) {
      if (!decided[op.index()]) {
        continue;
      }
      for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
        const ValueId value = graph_[op].operands[i];
        const uint32_t producer = graph_[value].producer.index();
        if (!decided[producer]) {
          continue;
        }
        const double seconds =
            crossingOf(value, layoutOf(value, option), choices_.options(op)[option[op.index()]].operands[i]);
        crossings += std::max(0.0, seconds - crossing[value.index()]);
        crossing[value.index()] = std::max(crossing[value.index()], seconds);
        const double latency = seconds > 0 ? mesh_.latencySeconds : 0;
        end[op.index()] = std::max(end[op.index()], end[producer] + latency + seconds);
      }
      const double seconds = product(op, option[op.index()]);
      products += seconds;
      end[op.index()] += seconds;
      longest = std::max(longest, end[op.index()]);
    }
    return nearly * std::max({products, crossings, longest});
  }

 private:
  static constexpr double nearly = 0.95; // parts are rounded

  const Layout& layoutOf(ValueId value, llvm::ArrayRef<uint32_t> option) const {
    const OpId producer = graph_[value].producer;
    return choices_.options(producer)[option[producer.index()]]
        .results[value.index() - graph_[producer].firstResult.index()];
  }

  /// Of a product on the first device, which has every op: fetches read there what all devices compute.
  double product(OpId op, uint32_t option) const {
    if (graph_[op].kind() != OpKind::Matmul) {
      return 0;
    }
    const Shape& left = graph_.typeOf(graph_[op].operands[0]).shape;
    const Shape& result = graph_.typeOf(graph_[op].firstResult).shape;
    const double flops =
        2.0 * static_cast<double>(left.elements() / result[0]) * static_cast<double>(result.elements());
    const bool inParts = choices_.options(op)[option].form == OpOption::Form::Parts;
    return (inParts ? mesh_.shares.front() : 1) * flops / rate_;
  }

  /// Of a value on one link, by how it is made and read.
  double crossingOf(ValueId value, const Layout& from, const Layout& to) const {
    using Form = Layout::Form;
    const OpClass made = classOf(graph_[graph_[value].producer].kind());
    if (from == to || made == OpClass::Source || mesh_.bandwidth <= 0) {
      return 0;
    }
    double part = 0;
    if (to.form == Form::OnAll && (from.isCut() || from.isPartial())) {
      part = least_ * (from.isPartial() && even_ ? 2 : 1);
    } else if (to.isCut() && from.isPartial()) {
      part = least_;
    } else if (to.isCut() && from.isCut() && even_) {
      part = least_ * least_;
    }
    return part * static_cast<double>(graph_.typeOf(value).bytes()) / mesh_.bandwidth;
  }

  const Graph& graph_;
  const SplitChoices& choices_;
  const Mesh& mesh_;
  double rate_, least_;
  bool even_;
};

class Enumeration {
 public:
  Enumeration(const Graph& graph, const Machine& machine, const EnumerationLimits& limits)
      : graph_(unfoldBatchNorms(graph)), machine_(machine), limits_(limits) {}

  std::optional<Enumerated> run() {
    best_.seconds = limits_.known;
    size_t splits = 0;
    const std::vector<Mesh> meshes = allMeshes(graph_, machine_);
    for (const Mesh& mesh : meshes) {
      forEachSplit(mesh, [&](const SplitPlan&, double) { return ++splits <= limits_.splits; });
    }
    if (splits > limits_.splits) {
      return std::nullopt;
    }
    addWholeOps();
    for (const Mesh& mesh : meshes) {
      const double bound = mesh.alike ? leastSplitSeconds(graph_, mesh, machine_, cost_, HUGE_VAL) : 0;
      forEachSplit(mesh, [&](const SplitPlan& plan, double least) {
        addSplit(plan, std::max(least, bound));
        return true;
      });
    }
    return best_;
  }

 private:
  /// Plans that may be quicker than the best so far, with a bound below their seconds.
  void forEachSplit(const Mesh& mesh, llvm::function_ref<bool(const SplitPlan&, double)> visit) const {
    const SplitChoices choices(graph_, mesh, machine_, cost_, OptionSpace::All);
    const LeastSeconds least(graph_, choices, mesh, machine_);
    const std::vector<bool> all(graph_.opCount(), true);
    forEachChoice(graph_, choices, 1, false,
                  {[&](llvm::ArrayRef<uint32_t> option, double) {
                     return visit(choices.planOf(option, 1, 0), least.of(option, all));
                   },
                   [&](llvm::ArrayRef<uint32_t> option, const std::vector<bool>& decided) {
                     return least.of(option, decided) < best_.least();
                   }});
  }

  Graph fused(const Graph& graph) const {
    auto made = runPasses(PassPhase::Fuse, graph, machine_, {});
    REQUIRE(made.ok());
    return *std::move(made);
  }

  PlacementProblem problemOf(const Graph& graph) const {
    return {graph, machine_, cost_, SideTable<OpId, DeviceId>(graph.opCount()), lowerOptionsOf(options_)};
  }

  void addSplit(const SplitPlan& plan, double least) {
    const SplitGraph split = splitGraphOf(graph_, plan, machine_);
    const auto placement = place(fused(split.graph), machine_, cost_, "pins");
    REQUIRE(placement.ok());
    if (add(*placement, PlanKind::Split, least)) {
      best_.text = toString(plan.mesh, machine_) + textOf(graph_, plan);
    }
  }

  void addWholeOps() {
    const Graph graph = fused(graph_);
    const PlacementProblem problem = problemOf(graph);
    std::vector<OpId> free;
    for (const OpId op : graph.ops()) {
      if (!isResident(graph[op].kind()) && graph[op].kind() != OpKind::Input) {
        free.push_back(op);
      }
    }
    const size_t devices = machine_.devices.size();
    const bool all = std::pow(devices, free.size()) <= static_cast<double>(limits_.placements);
    CheapOps cheap(problem);
    Placement placement = placeOn(problem, DeviceId(0));
    std::vector<uint32_t> at(free.size(), 0);
    for (bool more = true; more; more = advance(at, all)) {
      for (size_t i = 0; i < free.size(); ++i) {
        placement.device[free[i]] = DeviceId(at[i]);
      }
      settleResidents(placement, problem);
      addWhole(placement);
      Placement settled = placement;
      cheap.settle(settled);
      addWhole(settled);
    }
  }

  void addWhole(const Placement& placement) {
    std::set<DeviceId> used;
    for (const OpId op : placement.graph.ops()) {
      if (classOf(placement.graph[op].kind()) != OpClass::Source) {
        used.insert(placement.device[op]);
      }
    }
    add(placement, used.size() == 1 ? PlanKind::OneDevice : PlanKind::WholeOps, 0);
  }

  // The next placement; where not `all` are wanted, the next device alone.
  bool advance(std::vector<uint32_t>& at, bool all) const {
    const auto devices = static_cast<uint32_t>(machine_.devices.size());
    if (!all) {
      llvm::for_each(at, [](uint32_t& one) { ++one; });
      return !at.empty() && at.front() < devices;
    }
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < devices) {
        return true;
      }
      at[i] = 0;
    }
    return false;
  }

  /// Whether it is the best of its kind so far.
  bool add(const Placement& placement, PlanKind kind, double least) {
    const auto planned = plannedSeconds(placement, problemOf(placement.graph));
    if (!planned) {
      return false;
    }
    // Else plans were left out that may be quicker, or the bound on all splits of the mesh is none.
    CHECK(planned->seconds >= least);
    ++best_.plans;
    best_.overBound += planned->bound > planned->seconds * (1 + 1e-9) ? 1 : 0;
    double& best = best_.seconds[static_cast<size_t>(kind)];
    const bool isBetter = planned->seconds < best;
    best = std::min(best, planned->seconds);
    return isBetter;
  }

  Graph graph_;
  const Machine& machine_;
  RooflineCostModel cost_;
  CompileOptions options_;
  EnumerationLimits limits_;
  Enumerated best_;
};

} // namespace

double Enumerated::preferred() const {
  constexpr double worthwhile = 0.98;
  double chosen = seconds[0];
  for (const double other : {seconds[1], seconds[2]}) {
    chosen = other < worthwhile * chosen ? other : chosen;
  }
  return chosen;
}

std::vector<Mesh> allMeshes(const Graph& graph, const Machine& machine) {
  std::vector<Mesh> meshes;
  for (const Mesh& mesh : candidateMeshes(graph, machine, RooflineCostModel())) {
    meshes.push_back(mesh);
    for (size_t size = 2; size < mesh.size(); ++size) {
      const auto first = mesh.devices.begin();
      Mesh part =
          meshOfAll({first, first + static_cast<ptrdiff_t>(size)}, graph, machine, RooflineCostModel());
      if (llvm::none_of(meshes, [&](const Mesh& other) { return other.devices == part.devices; })) {
        meshes.push_back(std::move(part));
      }
    }
  }
  return meshes;
}

std::string textOf(const Graph& graph, const SplitPlan& plan) {
  std::string text;
  for (const OpId op : graph.ops()) {
    const OpOption& option = plan.option[op];
    text += fmt::format("\n  {}:", graph.nameOf(op));
    for (const Layout& layout : option.operands) {
      text += fmt::format(" [{}]", toString(layout));
    }
    text += fmt::format(" -> [{}]", toString(option.results[0]));
  }
  return text;
}

std::optional<Enumerated> enumeratePlans(const Graph& graph, const Machine& machine,
                                         const EnumerationLimits& limits) {
  return Enumeration(graph, machine, limits).run();
}

} // namespace dfc::test
