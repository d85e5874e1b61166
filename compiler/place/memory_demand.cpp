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
      : graph_(placement.graph), device_(placement.device), host_(machine.host()),
        devices_(machine.devices.size()), there_(graph_.valueCount()), resident_(devices_, 0),
        working_(devices_, 0), most_(devices_, 0) {}

  MemoryDemand run() {
    for (const OpId op : graph_.ops()) {
      addOp(op);
    }
    for (const Fetch& fetch : graph_.fetches()) {
      arrive(fetch.value, host_, bytesOf(fetch.value));
    }
    MemoryDemand demand{std::move(resident_), std::move(most_)};
    for (const DeviceId device : demand.least.ids()) {
      demand.least[device] += working_[device];
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
      operands += isStored(operand) && seen.insert(operand).second ? bytesOf(operand) : 0.0;
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

  // The next value of a parameter may be computed in the parameter's bytes.
  bool isAssigned(ValueId value) const {
    if (nextValues_.empty()) {
      for (const OpId op : graph_.opsOf(OpKind::Assign)) {
        nextValues_.insert(graph_[op].operands[1]);
      }
    }
    return nextValues_.count(value) != 0;
  }

  // Transfers leave a copy on each device on the way, of which only the last is counted in `least`.
  void arrive(ValueId value, DeviceId device, double bytes) {
    auto& there = there_[value];
    if (llvm::is_contained(there, device)) {
      return;
    }
    there.push_back(device);
    const bool resident = isResident(graph_[graph_[value].producer].kind());
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
