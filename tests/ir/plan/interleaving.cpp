// Memory as cells of 256 bytes, each with the tag of what it holds. See interleaving.h.
#include "tests/ir/plan/interleaving.h"

#include "ir/plan/in_place.h"

#include <algorithm>
#include <map>
#include <set>

namespace dfc::test {
namespace {

constexpr int64_t cellBytes = 256;
constexpr int nothing = -1;

class Run {
 public:
  explicit Run(const HandPlan& plan) : plan_(plan), graph_(plan.placed.graph), steps_(plan.schedule.steps) {
    tags_.resize(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      for (const ValueId value : graph_[op].results()) {
        tags_[value] = meaning(op, value);
        if (plan.placed.isResident(op)) {
          fill(value, tags_[value]);
        }
      }
    }
  }

  /// False when something went wrong.
  bool go(std::mt19937& chance) {
    std::vector<StepId> waiting(steps_.ids().begin(), steps_.ids().end());
    std::vector<StepId> running;
    while (!waiting.empty() || !running.empty()) {
      std::vector<StepId> ready;
      std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(ready),
                   [&](StepId s) { return mayBegin(s); });
      const size_t choices = ready.size() + running.size();
      const size_t pick = std::uniform_int_distribution<size_t>(0, choices - 1)(chance);
      const StepId step = pick < ready.size() ? ready[pick] : running[pick - ready.size()];
      auto& from = pick < ready.size() ? waiting : running;
      from.erase(std::find(from.begin(), from.end(), step));
      if (!(pick < ready.size() ? begin(step) : end(step))) {
        return false;
      }
      if (pick < ready.size()) {
        running.push_back(step);
      }
    }
    return endsWell();
  }

 private:
  /// What a value is, wherever it lies: views and assigns are what they name.
  int meaning(OpId op, ValueId value) const {
    const OpRow& row = graph_[op];
    if (classOf(row.kind()) == OpClass::View) {
      return tags_[row.operands[0]];
    }
    return row.kind() == OpKind::Assign ? tags_[row.operands[1]] : static_cast<int>(value.index());
  }

  template <class Visit>
  bool eachCell(ValueId value, const Visit& visit) {
    const Slot& slot = plan_.memory.slots[value];
    for (int64_t at = slot.offset; at < slot.offset + slot.bytes; at += cellBytes) {
      auto [cell, isNew] = cells_.try_emplace({slot.device.index(), at}, nothing);
      if (!visit(cell->second)) {
        return false;
      }
    }
    return true;
  }

  void fill(ValueId value, int tag) {
    eachCell(value, [&](int& cell) { return cell = tag, true; });
  }
  bool holds(ValueId value, int tag) {
    return eachCell(value, [&](int& cell) { return cell == tag; });
  }

  bool mayBegin(StepId step) const {
    const StepRow& row = steps_[step];
    const auto ended = [&](StepId other) { return ended_.count(other.index()) != 0; };
    const bool queue = row.position == 0 || ended(plan_.schedule.queues[row.queue].steps[row.position - 1]);
    return queue && std::all_of(row.waits.begin(), row.waits.end(), ended);
  }

  bool sameSlot(ValueId a, ValueId b) const {
    const Slot& first = plan_.memory.slots[a];
    const Slot& second = plan_.memory.slots[b];
    return first.device == second.device && first.offset == second.offset && first.bytes == second.bytes;
  }

  bool writes(const OpRow& row) const {
    const bool inItsPlace = row.kind() == OpKind::Assign && sameSlot(row.operands[1], row.firstResult);
    return classOf(row.kind()) != OpClass::View && !inItsPlace;
  }

  bool reads(const OpRow& row, size_t operand) const { return row.kind() != OpKind::Assign || operand != 0; }

  bool operandsHold(OpId op, bool atEnd) {
    const OpRow& row = graph_[op];
    for (size_t i = 0; i < row.operands.size(); ++i) {
      const bool consumed =
          atEnd && writes(row) && sameSlot(row.operands[i], row.firstResult) && mayRunInPlace(graph_, op, i);
      if (reads(row, i) && !consumed && !holds(row.operands[i], tags_[row.operands[i]])) {
        return false;
      }
    }
    return true;
  }

  static int halfWritten(OpId op) { return -2 - static_cast<int>(op.index()); }

  bool begin(StepId step) {
    const OpId op = steps_[step].op;
    if (!operandsHold(op, false)) {
      return false;
    }
    if (writes(graph_[op])) {
      fill(graph_[op].firstResult, halfWritten(op));
    }
    return true;
  }

  bool end(StepId step) {
    const OpId op = steps_[step].op;
    ended_.insert(step.index());
    if (!operandsHold(op, true)) {
      return false;
    }
    if (!writes(graph_[op])) {
      return true;
    }
    const bool alone = holds(graph_[op].firstResult, halfWritten(op));
    fill(graph_[op].firstResult, tags_[graph_[op].firstResult]);
    return alone;
  }

  bool endsWell() {
    std::map<ValueId, int> wanted;
    for (const OpId op : graph_.ops()) {
      if (plan_.placed.isResident(op)) {
        wanted[graph_[op].firstResult] = tags_[graph_[op].firstResult];
      }
    }
    for (const OpId op : graph_.ops()) {
      if (graph_[op].kind() == OpKind::Assign) {
        wanted[graph_[op].operands[0]] = tags_[graph_[op].firstResult];
      }
    }
    const auto& fetches = graph_.fetches();
    return std::all_of(wanted.begin(), wanted.end(),
                       [&](const auto& want) { return holds(want.first, want.second); }) &&
           std::all_of(fetches.begin(), fetches.end(),
                       [&](const Fetch& f) { return holds(f.value, tags_[f.value]); });
  }

  const HandPlan& plan_;
  const Graph& graph_;
  const Table<StepId, StepRow>& steps_;
  SideTable<ValueId, int> tags_;
  std::map<std::pair<uint32_t, int64_t>, int> cells_;
  std::set<uint32_t> ended_;
};

} // namespace

bool someRunGoesWrong(const HandPlan& plan, std::mt19937& chance, int runs) {
  for (int i = 0; i < runs; ++i) {
    if (!Run(plan).go(chance)) {
      return true;
    }
  }
  return false;
}

} // namespace dfc::test
