// Each step is one walk over the ops; that of the state visits a value at most once for each kind of reader.
#include "compiler/passes/gradient_updates.h"

#include <algorithm>

namespace dfc {
namespace {

// From values to all from which they come: through ops and, as state outlives a step, from a parameter to the
// value that is assigned to it, but for assigns of the update.
class ReaderMarks {
 public:
  ReaderMarks(const Graph& graph, const SideTable<OpId, bool>& update)
      : graph_(graph), marks_(graph.valueCount(), 0), kept_(graph.opCount()) {
    for (const OpId assign : graph.opsOf(OpKind::Assign)) {
      if (!update[assign]) {
        kept_[graph[graph[assign].operands[0]].producer] = graph[assign].operands[1];
      }
    }
  }

  void mark(llvm::ArrayRef<ValueId> values, uint8_t reader) {
    markOnly(values, reader);
    while (!open_.empty()) {
      const OpId maker = graph_[open_.pop_back_val()].producer;
      const llvm::ArrayRef<ValueId> operands = graph_[maker].operands;
      if (kept_[maker].valid()) {
        markOnly(kept_[maker], reader);
      }
      markOnly(graph_[maker].kind() == OpKind::Assign ? operands.drop_front() : operands, reader);
    }
  }
  uint8_t of(ValueId value) const { return marks_[value]; }

 private:
  void markOnly(llvm::ArrayRef<ValueId> values, uint8_t reader) {
    for (const ValueId value : values) {
      if ((marks_[value] & reader) == 0) {
        marks_[value] |= reader;
        open_.push_back(value);
      }
    }
  }

  const Graph& graph_;
  SideTable<ValueId, uint8_t> marks_;
  SideTable<OpId, ValueId> kept_; ///< a parameter's next value
  llvm::SmallVector<ValueId, 0> open_;
};

} // namespace

GradientUpdates::GradientUpdates(const Graph& graph, const Differentiations& written)
    : graph_(graph), callOf_(graph.opCount(), none), needed_(graph.valueCount(), false),
      update_(graph.opCount(), false), late_(graph.opCount(), false) {
  findCalls(written);
  trains_.assign(calls_.size(), false);
  findNeeded();
  findUpdate();
  if (lastUpdate_.valid()) {
    addStateOfUpdate();
    findLate();
  }
}

void GradientUpdates::findCalls(const Differentiations& written) {
  for (const OpId op : graph_.ops()) {
    const OpRow& row = graph_[op];
    if (const GradientRecord* record = written.beginningAt(op)) {
      calls_.push_back(*record);
    } else if (row.kind() == OpKind::Gradients) {
      const llvm::ArrayRef<ValueId> operands = row.operands;
      calls_.push_back({operands.front(), operands.drop_front().vec(), {}, op, OpId(op.index() + 1)});
    }
  }
  for (size_t i = 0; i < calls_.size(); ++i) {
    for (uint32_t op = calls_[i].first.index(); op < calls_[i].end.index(); ++op) {
      callOf_[OpId(op)] = static_cast<int32_t>(i);
    }
  }
}

// Backwards from the assigns. A call depends on its loss, too, though its ops may not read it.
void GradientUpdates::findNeeded() {
  const auto need = [&](llvm::ArrayRef<ValueId> values) {
    llvm::for_each(values, [&](ValueId value) { needed_[value] = true; });
  };
  for (auto index = static_cast<uint32_t>(graph_.opCount()); index-- > 0;) {
    const OpId op(index);
    const bool isNeeded = graph_[op].kind() == OpKind::Assign ||
                          llvm::any_of(graph_[op].results(), [&](ValueId result) { return needed_[result]; });
    if (isNeeded) {
      need(graph_[op].operands);
    }
    if (callOf_[op] == none) {
      continue;
    }
    const GradientRecord& call = calls_[callIndex(op)];
    trains_[callIndex(op)] = trains_[callIndex(op)] || isNeeded;
    if (call.first == op && trains_[callIndex(op)]) {
      need(call.loss);
      need(call.wrt);
    }
  }
}

void GradientUpdates::findUpdate() {
  SideTable<ValueId, bool> dependent(graph_.valueCount(), false);
  for (const OpId op : graph_.ops()) {
    const OpRow& row = graph_[op];
    const bool depends =
        isInTraining(op) || llvm::any_of(row.operands, [&](ValueId value) { return dependent[value]; });
    llvm::for_each(row.results(), [&](ValueId result) { dependent[result] = depends; });
    if (row.kind() == OpKind::Assign && dependent[row.operands[1]]) {
      update_[op] = true;
      lastUpdate_ = op;
    }
  }
}

void GradientUpdates::addStateOfUpdate() {
  ReaderMarks readers(graph_, update_);
  for (const OpId op : graph_.ops()) {
    if (update_[op]) {
      readers.mark(graph_[op].operands[1], ByUpdate);
    }
    if (callOf_[op] != none) {
      readers.mark(graph_[op].operands, ByGradients);
      readers.mark(calls_[callIndex(op)].loss, ByGradients);
    }
  }
  for (const OpId assign : graph_.opsOf(OpKind::Assign)) {
    const OpRow& row = graph_[assign];
    const int both = readers.of(row.operands[0]) | readers.of(row.firstResult);
    update_[assign] = update_[assign] || both == ByUpdate;
    lastUpdate_ = update_[assign] ? assign : lastUpdate_;
  }
}

// A call is late if its arguments or one of its ops are.
void GradientUpdates::findLate() {
  const auto readsLate = [&](llvm::ArrayRef<ValueId> values) {
    return llvm::any_of(values, [&](ValueId value) { return late_[graph_[value].producer]; });
  };
  const auto isLate = [&](const GradientRecord& call) {
    bool any = readsLate(call.loss) || readsLate(call.wrt);
    for (uint32_t op = call.first.index(); op < call.end.index(); ++op) {
      any = any || readsLate(graph_[OpId(op)].operands);
    }
    return any;
  };
  for (const OpId op : graph_.ops()) {
    if (callOf_[op] == none) {
      late_[op] = update_[op] || readsLate(graph_[op].operands);
    } else {
      const GradientRecord& call = calls_[callIndex(op)];
      late_[op] = call.first == op ? isLate(call) : late_[call.first];
    }
  }
}

std::vector<OpId> GradientUpdates::order() const {
  const auto all = graph_.ops();
  std::vector<OpId> order(all.begin(), all.end());
  std::stable_partition(order.begin(), order.end(), [&](OpId op) { return !late_[op]; });
  return order;
}

} // namespace dfc
