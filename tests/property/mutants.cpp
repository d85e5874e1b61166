// One maker a kind of mutation.
#include "tests/property/mutants.h"

#include "ir/plan/happens_before.h"
#include "ir/plan/in_place.h"
#include "tests/support/graph_surgeon.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::test {
namespace {

std::string nameOf(const PlanStages& plan, OpId op) { return std::string(plan.placed.graph.nameOf(op)); }

std::vector<Mutant> withoutTransfers(const PlanStages& sound) {
  std::vector<Mutant> mutants;
  const Graph& graph = sound.placed.graph;
  for (const OpId op : graph.ops()) {
    if (graph[op].kind() != OpKind::Transfer) {
      continue;
    }
    const ValueId from = graph[op].operands[0], to = graph[op].firstResult;
    Mutant mutant{Mutation::NoTransfer, "without transfer '" + nameOf(sound, op) + "'", {}, sound, {}};
    PlanStages bypassed = sound;
    bool read = false;
    for (const OpId reader : graph.ops()) {
      for (size_t i = 0; i < graph[reader].operands.size(); ++i) {
        if (graph[reader].operands[i] == to) {
          GraphSurgeon{bypassed.placed.graph}.op(reader).operands[i] = from;
          read = true;
        }
      }
    }
    if (read) {
      mutant.refused.push_back(bypassed);
    }
    ops::Reshape nothing;
    nothing.shape.assign(graph.typeOf(to).shape.dims().begin(), graph.typeOf(to).shape.dims().end());
    PlanStages replaced = sound;
    replaced.placed.transfers.erase(op);
    GraphSurgeon{replaced.placed.graph}.op(op).attributes = nothing;
    mutant.refused.push_back(replaced);
    GraphSurgeon{replaced.placed.graph}.op(op).operands[0] = to;
    mutant.refused.push_back(replaced);
    mutant.executed = std::move(replaced);
    mutants.push_back(std::move(mutant));
  }
  return mutants;
}

std::vector<Mutant> withoutWaits(const PlanStages& sound) {
  std::vector<Mutant> mutants;
  for (const StepId step : sound.schedule.steps.ids()) {
    const StepRow& row = sound.schedule.steps[step];
    for (size_t i = 0; i < row.waits.size(); ++i) {
      const StepId wait = row.waits[i];
      PlanStages hasty = sound;
      auto& waits = hasty.schedule.steps[step].waits;
      waits.erase(waits.begin() + static_cast<ptrdiff_t>(i));
      mutants.push_back({Mutation::NoWait,
                         fmt::format("without the wait of '{}' for '{}'", nameOf(sound, row.op),
                                     nameOf(sound, sound.schedule.steps[wait].op)),
                         {hasty},
                         hasty,
                         {step, wait}});
    }
  }
  return mutants;
}

class Mover {
 public:
  explicit Mover(const PlanStages& sound)
      : sound_(sound), graph_(sound.placed.graph), before_(sound.schedule), contents_(graph_.valueCount()),
        storage_(graph_.valueCount()), kept_(graph_.valueCount()), accesses_(graph_.valueCount()) {
    for (const OpId op : graph_.ops()) {
      for (const ValueId value : graph_[op].results()) {
        name(op, value);
      }
    }
    for (const OpId op : graph_.ops()) {
      addAccesses(op);
    }
    keep();
  }

  std::vector<Mutant> run() {
    for (const ValueId value : graph_.values()) {
      if (storage_[value] == value && slot(value).bytes > 0) {
        moveInto(value, neighbour(value, false));
        moveInto(value, neighbour(value, true));
      }
    }
    return std::move(mutants_);
  }

 private:
  const Slot& slot(ValueId value) const { return sound_.memory.slots[value]; }
  StepId writeOf(ValueId contents) const { return sound_.schedule.stepOf[graph_[contents].producer]; }
  bool samePlace(ValueId a, ValueId b) const {
    return slot(a).device == slot(b).device && slot(a).offset == slot(b).offset &&
           slot(a).bytes == slot(b).bytes;
  }

  /// Values with the same contents go by the first of them, values that lie together wherever they lie too.
  void name(OpId op, ValueId value) {
    const OpRow& row = graph_[op];
    contents_[value] = storage_[value] = value;
    if (classOf(row.kind()) == OpClass::View) {
      contents_[value] = contents_[row.operands[0]];
      storage_[value] = storage_[row.operands[0]];
    } else if (row.kind() == OpKind::Assign) {
      storage_[value] = storage_[row.operands[0]];
      if (samePlace(value, row.operands[1])) {
        contents_[value] = contents_[row.operands[1]];
        unite(storage_[row.operands[1]], storage_[value]);
      }
    }
  }
  void unite(ValueId from, ValueId to) {
    for (const ValueId value : graph_.values()) {
      if (storage_[value] == from) {
        storage_[value] = to;
      }
    }
  }

  void addAccesses(OpId op) {
    const OpRow& row = graph_[op];
    const StepId step = sound_.schedule.stepOf[op];
    if (!step.valid()) {
      return;
    }
    for (const ValueId value : row.results()) {
      accesses_[contents_[value]].push_back(step);
    }
    for (size_t i = row.kind() == OpKind::Assign ? 1 : 0; i < row.operands.size(); ++i) {
      accesses_[contents_[row.operands[i]]].push_back(step);
    }
  }

  /// Needed after the last step.
  void keep() {
    for (const Fetch& fetch : graph_.fetches()) {
      kept_[contents_[fetch.value]] = true;
    }
    SideTable<ValueId, bool> assigned(graph_.valueCount());
    for (const OpId op : graph_.ops()) {
      if (graph_[op].kind() == OpKind::Assign) {
        assigned[graph_[op].operands[0]] = true;
        kept_[contents_[graph_[op].firstResult]] = true;
      }
    }
    for (const OpId op : graph_.ops()) {
      if (sound_.placed.isResident(op) && !assigned[graph_[op].firstResult]) {
        kept_[graph_[op].firstResult] = true;
      }
    }
  }

  bool isDoneBefore(ValueId contents, StepId write) const {
    const std::vector<StepId>& all = accesses_[contents];
    return !kept_[contents] && write.valid() &&
           std::all_of(all.begin(), all.end(), [&](StepId s) { return before_.ordered(s, write); });
  }
  bool readsInPlace(ValueId contents, ValueId operand) const {
    const OpId op = graph_[contents].producer;
    for (size_t i = 0; i < graph_[op].operands.size(); ++i) {
      if (contents_[graph_[op].operands[i]] == operand && mayRunInPlace(graph_, op, i)) {
        return true;
      }
    }
    return false;
  }
  bool aliveTogether(ValueId a, ValueId b) const {
    return !isDoneBefore(a, writeOf(b)) && !isDoneBefore(b, writeOf(a)) && !readsInPlace(a, b) &&
           !readsInPlace(b, a);
  }
  /// Whether some contents of a's storage and the contents of b are in memory at one time.
  bool clashes(ValueId a, ValueId b) const {
    const ValueId other = contents_[b];
    bool clash = false;
    for (const ValueId mine : graph_.values()) {
      if (storage_[mine] == storage_[a]) {
        if (readsInPlace(contents_[mine], other) || readsInPlace(other, contents_[mine])) {
          return false;
        }
        clash = clash || aliveTogether(contents_[mine], other);
      }
    }
    return clash;
  }

  ValueId neighbour(ValueId value, bool above) const {
    ValueId nearest;
    const Slot& home = slot(value);
    for (const ValueId other : graph_.values()) {
      const Slot& there = slot(other);
      const bool side =
          above ? there.offset >= home.offset + home.bytes : there.offset + there.bytes <= home.offset;
      const bool nearer = !nearest.valid() ||
                          (above ? there.offset < slot(nearest).offset : there.offset > slot(nearest).offset);
      if (there.device == home.device && there.bytes > 0 && side && nearer &&
          storage_[other] != storage_[value] && clashes(value, other)) {
        nearest = other;
      }
    }
    return nearest;
  }

  void moveInto(ValueId value, ValueId other) {
    if (!other.valid()) {
      return;
    }
    const Slot& home = slot(value);
    const bool resident = sound_.placed.isResident(graph_[value].producer);
    const int64_t limit = (resident ? sound_.memory.residentBytes : sound_.memory.arenaBytes)[home.device];
    const int64_t last = (limit - home.bytes) / arenaAlignment * arenaAlignment;
    const int64_t offset = std::min(slot(other).offset, last);
    if (offset + home.bytes <= slot(other).offset || offset == home.offset) {
      return; // a resident value cannot reach it
    }
    PlanStages moved = sound_;
    for (const ValueId mine : graph_.values()) {
      if (storage_[mine] == value) {
        moved.memory.slots[mine].offset = offset;
      }
    }
    Mutant mutant{Mutation::SharedBytes,
                  fmt::format("'{}' moved from {} to {}, into '{}' at {}", graph_.nameOf(value), home.offset,
                              offset, graph_.nameOf(other), slot(other).offset),
                  {moved},
                  moved,
                  {}};
    addSuspects(mutant, contents_[other]);
    for (const ValueId mine : graph_.values()) {
      if (storage_[mine] == value && contents_[mine] == mine) {
        addSuspects(mutant, mine);
      }
    }
    mutants_.push_back(std::move(mutant));
  }
  void addSuspects(Mutant& mutant, ValueId contents) const {
    for (const StepId step : accesses_[contents]) {
      if (std::find(mutant.suspects.begin(), mutant.suspects.end(), step) == mutant.suspects.end()) {
        mutant.suspects.push_back(step);
      }
    }
  }

  const PlanStages& sound_;
  const Graph& graph_;
  HappensBefore before_;
  SideTable<ValueId, ValueId> contents_, storage_;
  SideTable<ValueId, bool> kept_; // by contents, as are accesses
  SideTable<ValueId, std::vector<StepId>> accesses_;
  std::vector<Mutant> mutants_;
};

/// The schedule with steps numbered by `order`. Waits that would point forwards are dropped.
Schedule renumbered(const Schedule& old, const std::vector<StepId>& order) {
  Schedule made;
  SideTable<StepId, StepId> newOf(old.steps.size());
  made.stepOf.resize(old.stepOf.size());
  for (const QueueId queue : old.queues.ids()) {
    QueueRow row = old.queues[queue];
    row.steps.clear();
    made.queues.add(std::move(row));
  }
  for (const StepId step : order) {
    StepRow row = old.steps[step];
    auto& queue = made.queues[row.queue].steps;
    row.position = static_cast<uint32_t>(queue.size());
    llvm::SmallVector<StepId, 2> waits;
    for (const StepId wait : row.waits) {
      if (newOf[wait].valid()) {
        waits.push_back(newOf[wait]);
      }
    }
    row.waits = waits;
    newOf[step] = made.steps.add(row);
    made.stepOf[row.op] = newOf[step];
    queue.push_back(newOf[step]);
  }
  return made;
}

Mutant inOtherOrder(const PlanStages& sound, OpId first, OpId second) {
  const Schedule& old = sound.schedule;
  const StepId before = old.stepOf[first], after = old.stepOf[second];
  std::vector<StepId> order;
  for (const StepId step : old.steps.ids()) {
    if (step == before) {
      order.push_back(after);
    }
    if (step != after) {
      order.push_back(step);
    }
  }
  PlanStages swapped = sound;
  swapped.schedule = renumbered(old, order);
  const StepId early = swapped.schedule.stepOf[second], late = swapped.schedule.stepOf[first];
  const QueueId queue = old.steps[after].queue;
  if (queue != old.steps[before].queue) {
    auto& waits = swapped.schedule.steps[late].waits;
    const auto same = [&](StepId wait) { return swapped.schedule.steps[wait].queue == queue; };
    waits.erase(std::remove_if(waits.begin(), waits.end(), same), waits.end());
    waits.push_back(early);
  }
  return {Mutation::OtherOrder,
          fmt::format("'{}' before '{}'", nameOf(sound, second), nameOf(sound, first)),
          {swapped},
          swapped,
          {early, late}};
}

std::vector<Mutant> inOtherOrders(const PlanStages& sound) {
  std::vector<Mutant> mutants;
  const Graph& graph = sound.placed.graph;
  std::vector<Ordering> pairs = sound.placed.orderings;
  for (const OpId reader : graph.ops()) {
    for (const ValueId operand : graph[reader].operands) {
      pairs.push_back({graph[operand].producer, reader});
    }
  }
  const auto less = [](const Ordering& a, const Ordering& b) {
    return std::pair(a.before, a.after) < std::pair(b.before, b.after);
  };
  const auto same = [](const Ordering& a, const Ordering& b) {
    return a.before == b.before && a.after == b.after;
  };
  std::sort(pairs.begin(), pairs.end(), less);
  pairs.erase(std::unique(pairs.begin(), pairs.end(), same), pairs.end());
  for (const Ordering& pair : pairs) {
    if (!sound.placed.isResident(pair.before) && !sound.placed.isResident(pair.after)) {
      mutants.push_back(inOtherOrder(sound, pair.before, pair.after));
    }
  }
  return mutants;
}

} // namespace

std::string_view name(Mutation mutation) {
  switch (mutation) {
  case Mutation::NoTransfer: return "removed transfer";
  case Mutation::NoWait: return "removed wait";
  case Mutation::SharedBytes: return "offset in a live neighbour";
  case Mutation::OtherOrder: return "dependent pair reordered";
  }
  DFC_UNREACHABLE("mutation");
}

std::vector<Mutant> mutantsOf(const PlanStages& sound, Mutation mutation) {
  switch (mutation) {
  case Mutation::NoTransfer: return withoutTransfers(sound);
  case Mutation::NoWait: return withoutWaits(sound);
  case Mutation::SharedBytes: return Mover(sound).run();
  case Mutation::OtherOrder: return inOtherOrders(sound);
  }
  DFC_UNREACHABLE("mutation");
}

} // namespace dfc::test
