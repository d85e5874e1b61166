#include "compiler/lower/regions.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::cuda {
namespace {

class Cutter {
 public:
  Cutter(const PlanStages& stages, const PeerReads& peers)
      : graph_(stages.placed.graph), schedule_(stages.schedule), memory_(stages.memory), peers_(peers),
        awaited_(awaitedSteps(schedule_.steps.size(), [&](StepId step) { return waitsOf(step); })),
        replaced_(schedule_.steps.size()), fetched_(graph_.valueCount()), regions_(schedule_.steps.size()) {
    for (const PeerRead& read : peers.reads) {
      replaced_[read.transfer] = true;
    }
    for (const Fetch& fetch : graph_.fetches()) {
      fetched_[fetch.value] = true;
    }
  }

  SideTable<StepId, Region> run() {
    for (const QueueRow& queue : schedule_.queues) {
      cut(queue);
    }
    return std::move(regions_);
  }

 private:
  void cut(const QueueRow& queue) {
    Region region;
    bool published = false, copied = false;
    for (const StepId step : queue.steps) {
      const bool alone = copies(step);
      if (step != queue.steps.front()) {
        const bool apart = copied || alone || !waitsOf(step).empty();
        region.queueRegion += apart ? 1 : 0;
        region.number += apart || published ? 1 : 0;
      }
      regions_[step] = region;
      published = awaited_[step];
      copied = alone || isFetched(step);
    }
  }

  llvm::ArrayRef<StepId> waitsOf(StepId step) const { return peers_.waitsOf(schedule_, step); }

  // A fetched value is copied to the caller right behind the step that makes it.
  bool isFetched(StepId step) const {
    return llvm::any_of(graph_[schedule_.steps[step].op].results(),
                        [&](ValueId value) { return fetched_[value]; });
  }

  bool copies(StepId step) const {
    const OpRow& row = graph_[schedule_.steps[step].op];
    const OpClass kind = classOf(row.kind());
    if (kind == OpClass::Transfer) {
      return !replaced_[step];
    }
    if (kind != OpClass::State && kind != OpClass::View) {
      return false;
    }
    const Slot& from = memory_.slots[row.operands[row.kind() == OpKind::Assign ? 1 : 0]];
    const Slot& to = memory_.slots[row.firstResult];
    return from.device != to.device || from.offset + viewOffset(graph_, row) != to.offset;
  }

  const Graph& graph_;
  const Schedule& schedule_;
  const MemoryPlan& memory_;
  const PeerReads& peers_;
  SideTable<StepId, bool> awaited_;
  SideTable<StepId, bool> replaced_; // transfers that a peer read replaces
  SideTable<ValueId, bool> fetched_;
  SideTable<StepId, Region> regions_;
};

} // namespace

SideTable<StepId, Region> regionsOf(const PlanStages& stages, const PeerReads& peers) {
  return Cutter(stages, peers).run();
}

} // namespace dfc::cuda
