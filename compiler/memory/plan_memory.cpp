#include "compiler/memory/plan_memory.h"

#include "compiler/memory/pack.h"
#include "compiler/memory/pack_by_time.h"
#include "compiler/memory/storage.h"
#include "ir/author/text/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace dfc {
namespace {

// Effort by the number of storages on a device. Up to maxForAllOrders, every packing order is tried. Up to
// maxForPairwiseConflicts, they are tried only where packing by time does not reach the lower bound. Beyond,
// never: they compare all pairs.
constexpr size_t maxForAllOrders = 256, maxForPairwiseConflicts = 1024;
constexpr size_t largestToReport = 5;

class MemoryPlanner {
 public:
  MemoryPlanner(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine,
                const PreferredOffsets& preferred, Sharing sharing)
      : placed_(placed), schedule_(schedule), machine_(machine), preferred_(preferred), before_(schedule),
        storage_(planStorage(placed, schedule, before_, sharing)), offsets_(storage_.storages.size()) {
    plan_.arenaBytes = SideTable<DeviceId, int64_t>(machine.devices.size());
    plan_.residentBytes = plan_.lowerBound = plan_.arenaBytes;
  }

  MemoryPlan packAllDevices() {
    byDevice_.resize(machine_.devices.size());
    for (const StorageId storage : storage_.storages.ids()) {
      byDevice_[storage_.storages[storage].device.index()].push_back(storage);
    }
    for (const DeviceId device : machine_.devices.ids()) {
      planDevice(device, byDevice_[device.index()]);
    }
    fillSlots();
    return plan_;
  }

  /// Errors of the plan that `packAllDevices` made.
  Diagnostics errors() const {
    Diagnostics errors;
    for (const DeviceId device : machine_.devices.ids()) {
      if (exceedsCapacity(plan_, machine_, device)) {
        errors.push_back(capacityError(device, byDevice_[device.index()]));
      }
    }
    return errors;
  }

 private:
  void planDevice(DeviceId device, const std::vector<StorageId>& storages) {
    std::vector<StorageId> transient;
    int64_t resident = 0;
    for (const StorageId storage : storages) {
      if (storage_.storages[storage].resident) {
        offsets_[storage] = resident;
        resident += alignUp(storage_.storages[storage].bytes);
      } else {
        transient.push_back(storage);
      }
    }
    const int64_t temporary = packTransient(device, transient, resident);
    plan_.residentBytes[device] = resident;
    plan_.arenaBytes[device] = alignUp(resident + temporary);
    plan_.lowerBound[device] = resident + peakLiveBytes(transient);
  }

  int64_t packTransient(DeviceId device, const std::vector<StorageId>& storages, int64_t base) {
    if (llvm::any_of(storages, [&](StorageId storage) { return preferredOffset(storage) >= 0; })) {
      const int64_t bytes = applyPacking(storages, base, byTime(storages, /*usePreferred=*/true));
      if (alignUp(base + bytes) <= machine_.devices[device].memoryBytes) {
        return bytes;
      }
    }
    if (storages.size() <= maxForAllOrders) {
      return applyPacking(storages, base, inAllOrders(storages));
    }
    const Packing packing = byTime(storages, /*usePreferred=*/false);
    if (storages.size() <= maxForPairwiseConflicts && packing.bytes > peakLiveBytes(storages)) {
      if (const Packing other = inAllOrders(storages); other.bytes < packing.bytes) {
        return applyPacking(storages, base, other);
      }
    }
    return applyPacking(storages, base, packing);
  }

  int64_t applyPacking(const std::vector<StorageId>& storages, int64_t base, const Packing& packing) {
    for (size_t i = 0; i < storages.size(); ++i) {
      offsets_[storages[i]] = base + packing.offsets[i];
    }
    return packing.bytes;
  }

  Packing inAllOrders(const std::vector<StorageId>& storages) const {
    std::vector<PackBuffer> buffers;
    for (const StorageId storage : storages) {
      const StorageRow& row = storage_.storages[storage];
      buffers.push_back({row.bytes, row.begin, row.end});
    }
    return pack(buffers, arenaAlignment, [&](size_t a, size_t b) {
      return conflict(storage_.storages[storages[a]], storage_.storages[storages[b]]);
    });
  }

  Packing byTime(const std::vector<StorageId>& storages, bool usePreferred) const {
    std::vector<TimedStorage> timed;
    timed.reserve(storages.size());
    for (const StorageId storage : storages) {
      timed.push_back({&storage_.storages[storage], usePreferred ? preferredOffset(storage) : -1});
    }
    return packByTime(timed, schedule_, before_);
  }

  int64_t preferredOffset(StorageId storage) const {
    return preferred_.empty() ? -1 : preferred_[storage_.storages[storage].value];
  }

  bool conflict(const StorageRow& a, const StorageRow& b) const {
    return a.bytes > 0 && b.bytes > 0 && !diesBefore(a, b, before_) && !diesBefore(b, a, before_);
  }

  // Lower bound: the largest sum of sizes whose predicted lifetimes overlap at one moment.
  int64_t peakLiveBytes(const std::vector<StorageId>& storages) const {
    std::vector<std::pair<double, int64_t>> events; // at one time, ends (negative) come first
    for (const StorageId storage : storages) {
      const StorageRow& row = storage_.storages[storage];
      if (row.end > row.begin) {
        events.emplace_back(row.begin, row.bytes);
        events.emplace_back(row.end, -row.bytes);
      }
    }
    std::sort(events.begin(), events.end());
    int64_t alive = 0;
    int64_t most = 0;
    for (const auto& [time, bytes] : events) {
      alive += bytes;
      most = std::max(most, alive);
    }
    return most;
  }

  Diagnostic capacityError(DeviceId device, std::vector<StorageId> storages) const {
    std::stable_sort(storages.begin(), storages.end(), [&](StorageId a, StorageId b) {
      return storage_.storages[a].bytes > storage_.storages[b].bytes;
    });
    storages.resize(std::min(storages.size(), largestToReport));
    std::vector<std::string> holders;
    for (const StorageId storage : storages) {
      const StorageRow& row = storage_.storages[storage];
      holders.push_back(fmt::format("{} {} ({})", placed_.graph.nameOf(row.value), humanBytes(row.bytes),
                                    row.resident ? "resident" : "within a step"));
    }
    const DeviceRow& row = machine_.devices[device];
    const auto [needed, there] = humanBytesApart(plan_.arenaBytes[device], row.memoryBytes);
    return errorWithoutPlace(
        fmt::format("{} needs {} but has {}; parameters and constants take {}, no plan of this schedule "
                    "needs less than {}; the largest holders are {}",
                    row.name, needed, there, humanBytes(plan_.residentBytes[device]),
                    humanBytes(plan_.lowerBound[device]), fmt::join(holders, ", ")),
        machine_.devices.size() > 1
            ? "no plan that the policy tried fits (auto tries the most): pin some of these to a device with "
              "more memory (--pin NAME=DEVICE, and '*=DEVICE' for all), use a smaller batch, or give a "
              "machine with more memory or further devices"
            : "use a smaller batch, or give a machine with more memory or with further devices");
  }

  void fillSlots() {
    const Graph& graph = placed_.graph;
    plan_.slots = SideTable<ValueId, Slot>(graph.valueCount());
    for (const ValueId value : graph.values()) {
      const StorageId storage = storage_.of[value];
      plan_.slots[value] = {storage_.storages[storage].device, offsets_[storage] + storage_.offset[value],
                            graph.typeOf(value).bytes()};
    }
  }

  const PlacedGraph& placed_;
  const Schedule& schedule_;
  const Machine& machine_;
  const PreferredOffsets& preferred_;
  HappensBefore before_;
  StoragePlan storage_;
  std::vector<std::vector<StorageId>> byDevice_;
  SideTable<StorageId, int64_t> offsets_;
  MemoryPlan plan_;
};

} // namespace

Result<MemoryPlan> planMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine) {
  const PreferredOffsets none;
  MemoryPlanner planner(placed, schedule, machine, none, Sharing::InPlace);
  MemoryPlan plan = planner.packAllDevices();
  if (Diagnostics errors = planner.errors(); !errors.empty()) {
    return errors;
  }
  return plan;
}

MemoryPlan packMemory(const PlacedGraph& placed, const Schedule& schedule, const Machine& machine,
                      const PreferredOffsets& preferred, Sharing sharing) {
  return MemoryPlanner(placed, schedule, machine, preferred, sharing).packAllDevices();
}

bool exceedsCapacity(const MemoryPlan& plan, const Machine& machine, DeviceId device) {
  const int64_t capacity = machine.devices[device].memoryBytes;
  return capacity > 0 && plan.arenaBytes[device] > capacity;
}

} // namespace dfc
