// printMemory: see print.h. A block a device, a line a value, by offset; lifetimes from the schedule: a value
// lives from the step that makes it to the end of the last step that reads it, a resident or fetched one to
// the end.
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/plan/print/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace dfc {
namespace {

class MemoryPrinter {
 public:
  MemoryPrinter(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                const Machine& machine)
      : memory_(memory), schedule_(schedule), graph_(placed.graph), machine_(machine),
        lastReader_(graph_.valueCount()), fetched_(graph_.valueCount(), false),
        byDevice_(machine.devices.size()) {
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        noteReader(operand, schedule.stepOf[op]);
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      fetched_[fetch.value] = true;
    }
    for (const ValueId value : graph_.values()) {
      byDevice_[memory.slots[value].device].push_back(value);
    }
  }

  std::string print() && {
    out_ = fmt::format("memory of {} on {}\n", text::written(graph_.name()), machine_.name);
    for (const DeviceId device : machine_.devices.ids()) {
      printDevice(device);
    }
    return std::move(out_);
  }

 private:
  StepId makerOf(ValueId value) const { return schedule_.stepOf[graph_[value].producer]; }

  void noteReader(ValueId value, StepId reader) {
    StepId& last = lastReader_[value];
    if (reader.valid() && (!last.valid() || schedule_.steps[last].end < schedule_.steps[reader].end)) {
      last = reader;
    }
  }

  void printDevice(DeviceId device) {
    const DeviceRow& row = machine_.devices[device];
    const int64_t arena = memory_.arenaBytes[device];
    out_ += fmt::format("\n{}: arena {}", row.name, humanBytes(arena));
    if (row.memoryBytes > 0) {
      out_ += fmt::format(" of {} ({:.1f} %)", humanBytes(row.memoryBytes),
                          100 * static_cast<double>(arena) / static_cast<double>(row.memoryBytes));
    }
    out_ += fmt::format(", resident {}, peak in use {}\n", humanBytes(memory_.residentBytes[device]),
                        humanBytes(memory_.lowerBound[device]));
    std::vector<ValueId>& values = byDevice_[device];
    std::sort(values.begin(), values.end(), [&](ValueId a, ValueId b) { return placeOf(a) < placeOf(b); });
    for (const ValueId value : values) {
      printValue(value);
    }
  }

  std::tuple<int64_t, double, ValueId> placeOf(ValueId value) const {
    const StepId maker = makerOf(value);
    return {memory_.slots[value].offset, maker.valid() ? schedule_.steps[maker].start : -1, value};
  }

  void printValue(ValueId value) {
    const Slot& slot = memory_.slots[value];
    out_ += fmt::format("  {:>12}  {:>8}  {} : {}, {}\n", slot.offset, humanBytes(slot.bytes),
                        text::written(graph_.nameOf(value)), toString(graph_.typeOf(value)), lifeOf(value));
  }

  std::string lifeOf(ValueId value) const {
    const StepId maker = makerOf(value);
    if (!maker.valid()) {
      return "always";
    }
    const std::string begin = humanSeconds(schedule_.steps[maker].start);
    if (fetched_[value]) {
      return fmt::format("from {} to the end (fetched)", begin);
    }
    const StepId last = lastReader_[value];
    if (!last.valid()) {
      return fmt::format("from {}, never read", begin);
    }
    return fmt::format("from {} to {} ({})", begin, humanSeconds(schedule_.steps[last].end),
                       text::written(graph_.nameOf(schedule_.steps[last].op)));
  }

  const MemoryPlan& memory_;
  const Schedule& schedule_;
  const Graph& graph_;
  const Machine& machine_;
  SideTable<ValueId, StepId> lastReader_;
  SideTable<ValueId, char> fetched_;
  SideTable<DeviceId, std::vector<ValueId>> byDevice_;
  std::string out_;
};

} // namespace

std::string printMemory(const MemoryPlan& memory, const Schedule& schedule, const PlacedGraph& placed,
                        const Machine& machine) {
  return MemoryPrinter(memory, schedule, placed, machine).print();
}

} // namespace dfc
