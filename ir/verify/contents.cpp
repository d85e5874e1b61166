// Contents of a plan in one pass over the ops and one over the steps; see contents.h.
#include "ir/verify/contents.h"

#include <algorithm>

namespace dfc {
namespace {

class ContentsMaker {
 public:
  ContentsMaker(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed)
      : memory_(memory), schedule_(schedule), graph_(placed.graph) {}

  Contents run() {
    made_.of.resize(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      addResults(op);
    }
    for (const StepRow& step : schedule_.steps) {
      addReads(step);
    }
    keepState();
    for (const Fetch& fetch : graph_.fetches()) {
      made_.rows[made_.of[fetch.value]].kept = true;
    }
    return std::move(made_);
  }

 private:
  void addResults(OpId op) {
    const OpRow& row = graph_[op];
    const ValueId same = sameContentsAs(row);
    for (const ValueId result : row.results()) {
      made_.of[result] =
          same.valid() ? made_.of[same] : made_.rows.add({result, schedule_.stepOf[op], {}, false});
    }
  }

  /// The operand whose contents the result has, if any.
  ValueId sameContentsAs(const OpRow& row) const {
    if (classOf(row.kind()) == OpClass::View) {
      return row.operands[0];
    }
    if (row.kind() == OpKind::Assign && samePlace(row.operands[1], row.firstResult)) {
      return row.operands[1];
    }
    return {};
  }

  bool samePlace(ValueId a, ValueId b) const {
    const Slot& first = memory_.slots[a];
    const Slot& second = memory_.slots[b];
    return first.device == second.device && first.offset == second.offset && first.bytes == second.bytes;
  }

  void addReads(const StepRow& step) {
    const OpRow& row = graph_[step.op];
    // Operand 0 of an assign is the destination; it is not read.
    const size_t first = row.kind() == OpKind::Assign ? 1 : 0;
    for (size_t i = first; i < row.operands.size(); ++i) {
      addRead(made_.rows[made_.of[row.operands[i]]], step);
    }
  }

  /// Steps come in the order of their ids, which is the order of each queue: a later read replaces an
  /// earlier.
  void addRead(Content& content, const StepRow& step) {
    const StepId id = schedule_.stepOf[step.op];
    const auto sameQueue = std::find_if(content.lastReads.begin(), content.lastReads.end(), [&](StepId read) {
      return schedule_.steps[read].queue == step.queue;
    });
    if (sameQueue == content.lastReads.end()) {
      content.lastReads.push_back(id);
    } else {
      *sameQueue = id;
    }
  }

  /// The contents of a parameter after the last step are the assigned value, or its old value without an
  /// assign.
  void keepState() {
    SideTable<OpId, char> assigned(graph_.opCount(), 0);
    const auto keep = [&](OpId op) { made_.rows[made_.of[graph_[op].firstResult]].kept = true; };
    for (const OpId op : graph_.opsOf(OpKind::Assign)) {
      assigned[graph_[graph_[op].operands[0]].producer] = 1;
      keep(op);
    }
    for (const OpId op : graph_.opsOf(OpKind::Constant)) {
      keep(op);
    }
    for (const OpId op : graph_.opsOf(OpKind::Parameter)) {
      if (assigned[op] == 0) {
        keep(op);
      }
    }
  }

  const MemoryPlan& memory_;
  const Schedule& schedule_;
  const Graph& graph_;
  Contents made_;
};

} // namespace

Contents contentsOf(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed) {
  return ContentsMaker(memory, schedule, placed).run();
}

} // namespace dfc
