#include "compiler/memory/fixed_places.h"

#include "compiler/memory/pack.h"
#include "compiler/memory/room.h"
#include "ir/plan/memory_plan.h"

namespace dfc {
namespace {

constexpr size_t mostForAllPairs = 4096;

class PlaceFixer {
 public:
  PlaceFixer(const PatientOrder& patient, const SideTable<DeviceId, int64_t>& room)
      : patient_(patient), room_(room), turn_(patient.order.size()) {
    for (uint32_t i = 0; i < turn_.size(); ++i) {
      turn_[patient.order[i]] = i;
    }
    places_.offsets = SideTable<BufferId, int64_t>(patient.demand.buffers.size(), -1);
  }

  std::optional<FixedPlaces> run() {
    std::vector<std::vector<BufferId>> byDevice(room_.size());
    for (const BufferId buffer : patient_.demand.buffers.ids()) {
      byDevice[patient_.demand.buffers[buffer].device.index()].push_back(buffer);
    }
    for (const DeviceId device : room_.ids()) {
      if (!packDevice(byDevice[device.index()], room_[device])) {
        return std::nullopt;
      }
    }
    orderTenants();
    return std::move(places_);
  }

 private:
  const BufferRow& rowOf(BufferId buffer) const { return patient_.demand.buffers[buffer]; }

  PackBuffer packBufferOf(BufferId buffer) const {
    const BufferRow& row = rowOf(buffer);
    return {row.bytes, static_cast<double>(turn_[row.users.front()]),
            static_cast<double>(row.toEnd ? turn_.size() : size_t{turn_[row.users.back()]} + 1)};
  }

  bool packDevice(const std::vector<BufferId>& buffers, int64_t room) {
    if (buffers.size() > mostForAllPairs) {
      return false;
    }
    std::vector<PackBuffer> rows;
    rows.reserve(buffers.size());
    for (const BufferId buffer : buffers) {
      rows.push_back(packBufferOf(buffer));
    }
    const Packing packing = pack(rows, arenaAlignment, [&](size_t a, size_t b) {
      return rows[a].begin < rows[b].end && rows[b].begin < rows[a].end;
    });
    for (size_t i = 0; i < buffers.size(); ++i) {
      places_.offsets[buffers[i]] = packing.offsets[i];
    }
    return buffers.empty() || packing.bytes <= room;
  }

  // Only the last tenants of each byte: they came after those before them.
  void orderTenants() {
    std::vector<Room> rooms;
    for (const DeviceId device : room_.ids()) {
      rooms.emplace_back(room_[device]);
    }
    uint32_t moment = 0;
    for (const uint32_t task : patient_.order) {
      for (const BufferId buffer : patient_.demand.tasks[task].makes) {
        take(rooms[rowOf(buffer).device.index()], buffer, task);
      }
      for (const BufferId buffer : patient_.demand.tasks[task].uses) {
        if (rowOf(buffer).users.back() == task && !rowOf(buffer).toEnd) {
          rooms[rowOf(buffer).device.index()].release(places_.offsets[buffer], rowOf(buffer).bytes, ++moment);
        }
      }
    }
  }

  void take(Room& room, BufferId buffer, uint32_t task) {
    for (const BufferId before : room.take(places_.offsets[buffer], rowOf(buffer).bytes, buffer)) {
      for (const uint32_t user : rowOf(before).users) {
        places_.orderings.push_back({user, task});
      }
    }
  }

  const PatientOrder& patient_;
  const SideTable<DeviceId, int64_t>& room_;
  std::vector<uint32_t> turn_; // by task
  FixedPlaces places_;
};

} // namespace

std::optional<FixedPlaces> fixPlaces(const PatientOrder& patient, const SideTable<DeviceId, int64_t>& room) {
  return PlaceFixer(patient, room).run();
}

} // namespace dfc
