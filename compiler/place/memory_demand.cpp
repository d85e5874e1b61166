#include "compiler/place/memory_demand.h"

#include "ir/plan/memory_plan.h"
#include "ir/plan/placed_graph.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <set>

namespace dfc {
namespace {

class DemandSum {
 public:
  DemandSum(const Placement& placement, const Machine& machine)
      : placement_(placement), graph_(placement.graph), device_(placement.device), host_(machine.host()),
        devices_(machine.devices.size()), there_(graph_.valueCount()), resident_(devices_, 0),
        working_(devices_, 0), most_(devices_, 0) {}

  MemoryDemand run() {
    for (const OpId op : graph_.ops()) {
      addOp(op);
    }
    for (const Fetch& fetch : graph_.fetches()) {
      arrive(fetch.value, host_, bytesOf(fetch.value));
    }
    const SideTable<DeviceId, double> peak = peakInOrder();
    MemoryDemand demand{resident_, resident_, resident_, std::move(most_)};
    for (const DeviceId device : demand.least.ids()) {
      demand.least[device] += working_[device];
      demand.likely[device] += std::max(peak[device], working_[device]);
    }
    return demand;
  }

 private:
  double bytesOf(ValueId value) const { return static_cast<double>(graph_.typeOf(value).bytes()); }

  // A parameter of f32 that is cast to 16 bits needs the device of the cast to hold the 16 bits alone.
  double bytesRead(ValueId operand, OpId reader) const {
    const OpRow& row = graph_[reader];
    return row.kind() == OpKind::Cast ? std::min(bytesOf(operand), bytesOf(row.firstResult))
                                      : bytesOf(operand);
  }

  void addOp(OpId op) {
    const DeviceId device = device_[op];
    double operands = 0, results = 0;
    std::set<ValueId> seen;
    for (const ValueId operand : graph_[op].operands) {
      arrive(operand, device, bytesRead(operand, op));
      const bool isHere = isStored(operand) || isStreamedTo(operand, device);
      operands += isHere && seen.insert(operand).second ? bytesOf(operand) : 0.0;
    }
    for (const ValueId result : graph_[op].results()) {
      arrive(result, device, bytesOf(result));
      results += isStored(result) ? bytesOf(result) : 0.0;
    }
    working_[device] = std::max({working_[device], operands, results});
  }

  // A view has no bytes of its own, and its source may be a parameter.
  bool isStored(ValueId value) const {
    const OpKind kind = graph_[graph_[value].producer].kind();
    return !isResident(kind) && kind != OpKind::Assign && classOf(kind) != OpClass::View &&
           !isAssigned(value);
  }

  bool isStreamedTo(ValueId value, DeviceId device) const {
    const OpId producer = graph_[value].producer;
    return placement_.isStreamed(producer) && device != device_[producer];
  }

  // The next value of a parameter may be computed in the parameter's bytes.
  bool isAssigned(ValueId value) const {
    if (nextValues_.empty()) {
      for (const OpId op : graph_.opsOf(OpKind::Assign)) {
        nextValues_.insert(graph_[op].operands[1]);
      }
    }
    return nextValues_.count(value) != 0;
  }

  // A view lives in the bytes of its source.
  ValueId sourceOf(ValueId value) const {
    while (classOf(graph_[graph_[value].producer].kind()) == OpClass::View) {
      value = graph_[graph_[value].producer].operands[0];
    }
    return value;
  }

  // A value is alive on each device from its producer to its last reader.
  SideTable<DeviceId, double> peakInOrder() const {
    SideTable<ValueId, uint32_t> lastRead(graph_.valueCount(), 0);
    for (const OpId op : graph_.ops()) {
      for (const ValueId operand : graph_[op].operands) {
        lastRead[sourceOf(operand)] = op.index();
      }
    }
    for (const Fetch& fetch : graph_.fetches()) {
      lastRead[sourceOf(fetch.value)] = static_cast<uint32_t>(graph_.opCount());
    }
    std::vector<std::vector<ValueId>> dying(graph_.opCount() + 1);
    SideTable<DeviceId, double> alive(devices_, 0), peak(devices_, 0);
    for (const OpId op : graph_.ops()) {
      const OpClass opClass = classOf(graph_[op].kind());
      const bool inPlace = opClass == OpClass::Elementwise || graph_[op].kind() == OpKind::Fused;
      if (inPlace) { // results overwrite operands
        change(dying[op.index()], -1, alive, peak);
      }
      for (const ValueId result : graph_[op].results()) {
        if (isStored(result)) {
          change({result}, 1, alive, peak);
          dying[std::max(lastRead[result], op.index())].push_back(result);
        }
      }
      if (!inPlace) {
        change(dying[op.index()], -1, alive, peak);
      }
    }
    return peak;
  }

  void change(llvm::ArrayRef<ValueId> values, double sign, SideTable<DeviceId, double>& alive,
              SideTable<DeviceId, double>& peak) const {
    for (const ValueId value : values) {
      for (const DeviceId device : there_[value]) {
        alive[device] += sign * bytesOf(value);
        peak[device] = std::max(peak[device], alive[device]);
      }
    }
  }

  // Transfers leave a copy on each device on the way, of which only the last is counted in `least`.
  void arrive(ValueId value, DeviceId device, double bytes) {
    auto& there = there_[value];
    if (llvm::is_contained(there, device)) {
      return;
    }
    there.push_back(device);
    const bool resident = isResident(graph_[graph_[value].producer].kind()) && !isStreamedTo(value, device);
    resident_[device] += resident ? bytes : 0.0;
    // A replica comes with its next value, or with a copy in 16 bits; a copy may be staged on any device.
    constexpr double copies = 3;
    const double own = copies * (bytesOf(value) + static_cast<double>(arenaAlignment));
    if (device == device_[graph_[value].producer]) {
      most_[device] += own;
    } else {
      for (const DeviceId staging : most_.ids()) {
        most_[staging] += own;
      }
    }
  }

  const Placement& placement_;
  const Graph& graph_;
  const SideTable<OpId, DeviceId>& device_;
  DeviceId host_;
  size_t devices_;
  SideTable<ValueId, llvm::SmallVector<DeviceId, 2>> there_;
  SideTable<DeviceId, double> resident_, working_, most_;
  mutable std::set<ValueId> nextValues_;
};

} // namespace

MemoryDemand memoryDemand(const Placement& placement, const Machine& machine) {
  return DemandSum(placement, machine).run();
}

bool fitsInto(const Machine& machine, const SideTable<DeviceId, double>& bytes) {
  return llvm::all_of(machine.devices.ids(), [&](DeviceId device) {
    const int64_t capacity = machine.devices[device].memoryBytes;
    return capacity == 0 || bytes[device] <= static_cast<double>(capacity);
  });
}

} // namespace dfc
