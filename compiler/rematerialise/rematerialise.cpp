#include "compiler/rematerialise/rematerialise.h"

#include "compiler/rematerialise/choose_checkpoints.h"
#include "compiler/rematerialise/choose_repeated.h"
#include "ir/plan/placed_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace dfc {
namespace {

/// Makes the graph in the order, with the ops that are repeated in front of the first that reads them again.
class Repeater {
 public:
  Repeater(const Placement& placement, const StepOrder& order, const Lifetimes& lifetimes)
      : placement_(placement), graph_(placement.graph), order_(order), lifetimes_(lifetimes),
        builder_(graph_) {}

  Rematerialised run(const Machine& machine, const CostModel& cost) {
    Rematerialised made;
    for (const OpId op : graph_.ops()) {
      if (isResident(graph_[op].kind())) {
        append(op, false, 0);
      }
    }
    std::multimap<uint32_t, OpId> again; // by position; of one position in the order
    for (const OpId op : order_.ops) {
      if (lifetimes_.againAt(op) != Lifetimes::none) {
        again.insert({lifetimes_.againAt(op), op});
        made.seconds += cost.opSeconds(graph_, op, machine, placement_.device[op]);
        ++made.ops;
      }
    }
    for (uint32_t i = 0; i < order_.ops.size(); ++i) {
      for (auto [next, end] = again.equal_range(i); next != end; ++next) {
        append(next->second, true, i);
      }
      // Views come with their readers; so does an assign whose result is read, which reads the value itself
      // where transfers were inserted, so that the order may have the reader first.
      const OpId op = order_.ops[i];
      if (classOf(graph_[op].kind()) != OpClass::View && made_.count({graph_[op].firstResult, false}) == 0) {
        append(op, false, i);
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      builder_.fetch(graph_.text(fetch.name), read(fetch.value, static_cast<uint32_t>(order_.ops.size())));
    }
    auto graph = std::move(builder_).finish();
    DFC_ASSERT(graph.ok(), "repeating ops broke the graph: " + render(graph.errors()));
    made.placement = {*std::move(graph), SideTable<OpId, DeviceId>(devices_.size()), placement_.policy,
                      SideTable<OpId, bool>(placement_.recomputed.empty() ? 0 : devices_.size(), false),
                      SideTable<OpId, bool>(placement_.streamed.empty() ? 0 : devices_.size(), false)};
    for (size_t i = 0; i < devices_.size(); ++i) {
      const OpId op(static_cast<uint32_t>(i));
      made.placement.device[op] = devices_[i];
      if (!placement_.recomputed.empty()) {
        made.placement.recomputed[op] = placement_.recomputed[from_[i]];
      }
      if (!placement_.streamed.empty()) {
        made.placement.streamed[op] = placement_.streamed[from_[i]];
      }
    }
    return made;
  }

 private:
  /// The new value that a reader at the position gets for an old one.
  ValueId read(ValueId old, uint32_t position) {
    const bool again = lifetimes_.readsAgain(graph_[lifetimes_.sourceOf(old)].producer, position);
    const auto found = made_.find({old, again});
    if (found != made_.end()) {
      return found->second;
    }
    append(graph_[old].producer, again, position);
    return made_.at({old, again});
  }

  void append(OpId op, bool again, uint32_t position) {
    const OpRow& row = graph_[op];
    llvm::SmallVector<ValueId, 4> operands;
    for (const ValueId operand : row.operands) {
      operands.push_back(read(operand, position));
    }
    InternedProvenance provenance = graph_.provenanceOf(op);
    const auto nameOf = [&](ValueId value) {
      return again ? builder_.intern(fmt::format("{}.again", graph_.nameOf(value))) : graph_[value].name;
    };
    provenance.name = nameOf(row.firstResult);
    const OpId made = builder_.appendInterned(row.attributes, operands, provenance);
    DFC_ASSERT(made.valid(), "a repeated op is ill-typed: " + render(builder_.errors()));
    devices_.push_back(placement_.device[op]);
    from_.push_back(op);
    for (uint32_t i = 0; i < row.resultCount; ++i) {
      const ValueId old(row.firstResult.index() + i);
      made_[{old, again}] = builder_.result(made, i);
      if (i > 0) {
        builder_.rename(builder_.result(made, i), nameOf(old));
      }
    }
  }

  const Placement& placement_;
  const Graph& graph_;
  const StepOrder& order_;
  const Lifetimes& lifetimes_;
  GraphBuilder builder_;
  std::map<std::pair<ValueId, bool>, ValueId> made_;
  std::vector<DeviceId> devices_; // of the new ops
  std::vector<OpId> from_;        // the old op of each
};

std::optional<Rematerialised> madeInOrder(const Placement& placement, const StepOrder& order,
                                          const Machine& machine, const CostModel& cost, double share,
                                          const InFlight* inFlight) {
  SideTable<DeviceId, int64_t> limits(machine.devices.size());
  for (const DeviceId device : limits.ids()) {
    const int64_t available = order.available[device];
    limits[device] = available == Lifetimes::unlimited
                         ? available
                         : static_cast<int64_t>(share * static_cast<double>(available));
    if (limits[device] < 0) {
      return std::nullopt; // parameters alone are too large
    }
  }
  Lifetimes lifetimes(placement, order, limits, inFlight);
  const RepetitionProblem problem{placement, order, limits, machine, cost};
  if (!chooseRepeated(lifetimes, problem) && !chooseCheckpoints(lifetimes, problem)) {
    return std::nullopt;
  }
  Rematerialised made = Repeater(placement, order, lifetimes).run(machine, cost);
  made.bytes = SideTable<DeviceId, double>(machine.devices.size(), 0);
  for (const DeviceId device : limits.ids()) {
    if (const std::vector<int64_t>& profile = lifetimes.profile(device); !profile.empty()) {
      made.bytes[device] = static_cast<double>(machine.devices[device].memoryBytes - order.available[device] +
                                               *std::max_element(profile.begin(), profile.end()));
    }
  }
  return made;
}

} // namespace

std::optional<Rematerialised> orderedForMemory(const Placement& placement, const Machine& machine,
                                               const CostModel& cost, double share,
                                               const InFlight* inFlight) {
  return madeInOrder(placement, stepOrder(placement, machine, cost), machine, cost, share, inFlight);
}

std::optional<Rematerialised> rematerialise(const Placement& placement, const StepOrder& order,
                                            const Machine& machine, const CostModel& cost, double share,
                                            const InFlight* inFlight) {
  auto made = madeInOrder(placement, order, machine, cost, share, inFlight);
  return made && made->ops > 0 ? std::move(made) : std::nullopt;
}

std::optional<Rematerialised> rematerialise(const Placement& placement, const Machine& machine,
                                            const CostModel& cost, double share, const InFlight* inFlight) {
  return rematerialise(placement, stepOrder(placement, machine, cost), machine, cost, share, inFlight);
}

} // namespace dfc
