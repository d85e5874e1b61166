// verifyMemoryPlan: values lie inside their arenas, and no byte is overwritten while its contents may still
// be read. Contents are replayed in the order of the steps that write them. By happens-before, each write
// must come after every access of the contents whose bytes it replaces. Checking immediate predecessors
// suffices: "all accesses of A end before B is written" is transitive, because the write of B is itself an
// access of B. Consecutive executions of the plan are separated by a barrier, so one execution is checked.
#include "ir/verify/occupancy.h"
#include "ir/verify/overwrite.h"
#include "ir/verify/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t holdersListed = 5;

class MemoryVerifier {
 public:
  MemoryVerifier(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                 const Machine& machine, const HappensBefore& before)
      : memory_(memory), schedule_(schedule), placed_(placed), graph_(placed.graph), machine_(machine),
        findings_(placed.graph), before_(before) {}

  Diagnostics run() {
    checkSizes();
    if (!findings_.empty()) {
      return findings_.take();
    }
    for (const DeviceId device : machine_.devices.ids()) {
      checkArena(device);
    }
    for (const ValueId value : graph_.values()) {
      checkSlot(value);
    }
    for (const OpId op : graph_.ops()) {
      checkShared(op);
    }
    if (findings_.empty()) {
      checkReuse();
    }
    return findings_.take();
  }

 private:
  std::string name(ValueId value) const { return std::string(graph_.nameOf(value)); }

  void checkSizes() {
    const size_t devices = machine_.devices.size();
    if (memory_.slots.size() != graph_.valueCount()) {
      findings_.add(fmt::format("{} values, but {} have a place", graph_.valueCount(), memory_.slots.size()));
    }
    if (memory_.arenaBytes.size() != devices || memory_.residentBytes.size() != devices ||
        memory_.lowerBound.size() != devices) {
      findings_.add(fmt::format("machine '{}' has {} devices, but the memory plan is for another number",
                                machine_.name, devices));
    }
  }

  void checkArena(DeviceId device) {
    const int64_t bytes = memory_.arenaBytes[device];
    const int64_t capacity = machine_.devices[device].memoryBytes;
    const std::string where = deviceText(machine_, device);
    if (bytes < 0) {
      findings_.add(fmt::format("the arena of {} has {} bytes", where, bytes));
    }
    for (const auto& [what, part] : {std::pair("resident values", memory_.residentBytes[device]),
                                     std::pair("the lower bound", memory_.lowerBound[device])}) {
      if (part < 0 || part > bytes) {
        findings_.add(fmt::format("{}: {} bytes for {} in an arena of {}", where, part, what, bytes));
      }
    }
    if (capacity > 0 && bytes > capacity) {
      findings_.add(fmt::format("the plan needs {} bytes on {}, which has {}", bytes, where, capacity),
                    "largest there: " + largestHolders(device));
    }
  }

  std::string largestHolders(DeviceId device) const {
    std::vector<ValueId> values;
    for (const ValueId value : graph_.values()) {
      if (memory_.slots[value].device == device) {
        values.push_back(value);
      }
    }
    const size_t count = std::min(holdersListed, values.size());
    std::partial_sort(values.begin(), values.begin() + static_cast<ptrdiff_t>(count), values.end(),
                      [&](ValueId a, ValueId b) {
                        return std::pair(-memory_.slots[a].bytes, a) < std::pair(-memory_.slots[b].bytes, b);
                      });
    std::string list;
    for (size_t i = 0; i < count; ++i) {
      list +=
          fmt::format("{}'{}' {} bytes", i == 0 ? "" : ", ", name(values[i]), memory_.slots[values[i]].bytes);
    }
    return list;
  }

  void checkSlot(ValueId value) {
    const OpId producer = graph_[value].producer;
    const Slot& slot = memory_.slots[value];
    if (slot.device != placed_.device[producer]) {
      findings_.at(producer, fmt::format("value '{}' is made on {} but placed in the arena of {}",
                                         name(value), deviceText(machine_, placed_.device[producer]),
                                         deviceText(machine_, slot.device)));
      return;
    }
    if (slot.bytes != graph_.typeOf(value).bytes()) {
      findings_.at(producer, fmt::format("value '{}' has {} bytes, but its place has {}", name(value),
                                         graph_.typeOf(value).bytes(), slot.bytes));
      return;
    }
    const int64_t alignment = comesFrom(value, OpKind::Subview) ? ops::subviewAlignment : arenaAlignment;
    if (slot.offset % alignment != 0) {
      findings_.at(producer, fmt::format("value '{}' is at offset {}, no multiple of {}", name(value),
                                         slot.offset, alignment));
    }
    const bool resident = placed_.isResident(producer);
    const int64_t end = resident ? memory_.residentBytes[slot.device] : memory_.arenaBytes[slot.device];
    if (slot.offset < 0 || slot.offset > end || slot.bytes > end - slot.offset) {
      findings_.at(producer,
                   fmt::format("value '{}' at offset {} with {} bytes lies outside the {} bytes of {} {}",
                               name(value), slot.offset, slot.bytes, end, deviceText(machine_, slot.device),
                               resident ? "for resident values" : "in all"));
    }
  }

  /// A view has its place in its operand, because the runtime copies nothing for it. An assign has its
  /// parameter's offset, because the next step reads the parameter there.
  void checkShared(OpId op) {
    const OpRow& row = graph_[op];
    const std::optional<size_t> index = sameBytesAs(row.kind());
    if (!index) {
      return;
    }
    const Slot& own = memory_.slots[row.firstResult];
    const Slot& other = memory_.slots[row.operands[*index]];
    const bool isPart = row.kind() == OpKind::Subview;
    if (own.bytes > 0 &&
        (own.offset != other.offset + viewOffset(graph_, row) || (!isPart && own.bytes != other.bytes))) {
      findings_.at(op,
                   fmt::format("'{}' is at offset {}, but it is the same storage as '{}', which is at {}",
                               name(row.firstResult), own.offset, name(row.operands[*index]), other.offset));
    }
    if (isPart && comesFrom(row.operands[0], OpKind::Input)) {
      findings_.at(op, fmt::format("'{}' is a part of an input, which lies in the caller's memory",
                                   name(row.firstResult)));
    }
  }

  /// Whether an op of the kind is among the views that a value comes through, or behind them.
  bool comesFrom(ValueId value, OpKind kind) const {
    OpId producer = graph_[value].producer, reader;
    while (graph_[producer].kind() != kind && classOf(graph_[producer].kind()) == OpClass::View) {
      reader = producer;
      producer = graph_[graph_[reader].operands[0]].producer;
      if (reader <= producer) { // of a graph that is none: operands are older
        return false;
      }
    }
    return graph_[producer].kind() == kind;
  }

  void checkReuse() {
    contents_ = contentsOf(memory_, schedule_, placed_);
    std::vector<ContentId> order(contents_.rows.ids().begin(), contents_.rows.ids().end());
    const auto rank = [&](ContentId id) { // residents first, then by step
      const StepId write = contents_.rows[id].write;
      return write.valid() ? uint64_t{write.index()} + 1 : 0;
    };
    std::stable_sort(order.begin(), order.end(), [&](ContentId a, ContentId b) { return rank(a) < rank(b); });
    SideTable<DeviceId, Occupancy> arenas(machine_.devices.size());
    for (const ContentId newcomer : order) {
      const Slot& slot = memory_.slots[contents_.rows[newcomer].value];
      if (slot.bytes > 0) {
        for (const ContentId old :
             arenas[slot.device].claim(slot.offset, slot.offset + slot.bytes, newcomer)) {
          checkReplaced(old, newcomer);
        }
      }
    }
  }

  void checkReplaced(ContentId oldId, ContentId newId) {
    const Content& old = contents_.rows[oldId];
    const Content& made = contents_.rows[newId];
    if (!made.write.valid()) {
      clash(old, made, "both are there from the start");
      return;
    }
    if (old.kept) {
      clash(old, made, fmt::format("'{}' is needed after the step", name(old.value)));
    }
    if (old.write.valid() && !before_.ordered(old.write, made.write)) {
      clash(old, made,
            fmt::format("nothing orders the writing of '{}' before that of '{}'", name(old.value),
                        name(made.value)));
      return;
    }
    for (const StepId read : old.lastReads) {
      const bool done = before_.ordered(read, made.write) || (read == made.write && inPlace(oldId, made));
      if (!done) {
        const std::string reader(graph_.nameOf(schedule_.steps[read].op));
        clash(old, made,
              read == made.write
                  ? fmt::format("'{}' reads the one while it writes the other, and may not do so in place",
                                reader)
                  : fmt::format("'{}' may still read '{}' when '{}' is written", reader, name(old.value),
                                name(made.value)));
      }
    }
  }

  /// Whether the step that writes `made` may read `old` from the very same bytes.
  bool inPlace(ContentId oldId, const Content& made) const {
    const OpId op = schedule_.steps[made.write].op;
    const OpRow& row = graph_[op];
    const Slot& from = memory_.slots[contents_.rows[oldId].value];
    const Slot& to = memory_.slots[made.value];
    if (made.value != row.firstResult || from.offset != to.offset || from.bytes != to.bytes) {
      return false;
    }
    for (size_t i = 0; i < row.operands.size(); ++i) {
      if (contents_.of[row.operands[i]] == oldId && !mayOverwrite(graph_, op, i)) {
        return false;
      }
    }
    return true;
  }

  void clash(const Content& old, const Content& made, const std::string& why) {
    const Slot& a = memory_.slots[old.value];
    const Slot& b = memory_.slots[made.value];
    findings_.at(graph_[made.value].producer,
                 fmt::format("'{}' [{}, {}) and '{}' [{}, {}) share bytes of {}: {}", name(old.value),
                             a.offset, a.offset + a.bytes, name(made.value), b.offset, b.offset + b.bytes,
                             deviceText(machine_, a.device), why));
  }

  const MemoryPlan& memory_;
  const Schedule& schedule_;
  const PlacedGraph& placed_;
  const Graph& graph_;
  const Machine& machine_;
  Findings findings_;
  Contents contents_;
  const HappensBefore& before_;
};

} // namespace

Diagnostics verifyMemoryPlan(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                             const Machine& machine) {
  Diagnostics errors = scheduleShape(schedule, placed, machine);
  return errors.empty() ? memoryPlaces(memory, schedule, placed, machine, HappensBefore(schedule)) : errors;
}

Diagnostics memoryPlaces(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                         const Machine& machine, const HappensBefore& before) {
  return MemoryVerifier(memory, schedule, placed, machine, before).run();
}

} // namespace dfc
