#include "compiler/memory/static_offsets.h"

#include "compiler/memory/free_ranges.h"
#include "compiler/memory/pack.h"
#include "ir/plan/memory_plan.h"

namespace dfc {
namespace {

constexpr size_t maxBuffersForPairwiseConflicts = 4096;

class StaticOffsetAssigner {
 public:
  StaticOffsetAssigner(const LowPeakOrder& lowPeak, const SideTable<DeviceId, int64_t>& available)
      : lowPeak_(lowPeak), available_(available), turn_(lowPeak.order.size()) {
    for (uint32_t i = 0; i < turn_.size(); ++i) {
      turn_[lowPeak.order[i]] = i;
    }
    places_.offsets = SideTable<BufferId, int64_t>(lowPeak.requirements.buffers.size(), -1);
  }

  std::optional<StaticOffsets> run() {
    std::vector<std::vector<BufferId>> byDevice(available_.size());
    for (const BufferId buffer : lowPeak_.requirements.buffers.ids()) {
      byDevice[lowPeak_.requirements.buffers[buffer].device.index()].push_back(buffer);
    }
    for (const DeviceId device : available_.ids()) {
      if (!packDevice(byDevice[device.index()], available_[device])) {
        return std::nullopt;
      }
    }
    orderReuses();
    return std::move(places_);
  }

 private:
  const BufferRow& rowOf(BufferId buffer) const { return lowPeak_.requirements.buffers[buffer]; }

  PackBuffer packBufferOf(BufferId buffer) const {
    const BufferRow& row = rowOf(buffer);
    return {row.bytes, static_cast<double>(turn_[row.users.front()]),
            static_cast<double>(row.liveOut ? turn_.size() : size_t{turn_[row.users.back()]} + 1)};
  }

  bool packDevice(const std::vector<BufferId>& buffers, int64_t available) {
    if (buffers.size() > maxBuffersForPairwiseConflicts) {
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
    return buffers.empty() || packing.bytes <= available;
  }

  // Orderings against the last owner of each byte suffice: that owner was ordered after the ones before it.
  void orderReuses() {
    std::vector<FreeRanges> ranges;
    for (const DeviceId device : available_.ids()) {
      ranges.emplace_back(available_[device]);
    }
    uint32_t moment = 0;
    for (const uint32_t task : lowPeak_.order) {
      for (const BufferId buffer : lowPeak_.requirements.tasks[task].allocates) {
        take(ranges[rowOf(buffer).device.index()], buffer, task);
      }
      for (const BufferId buffer : lowPeak_.requirements.tasks[task].uses) {
        if (rowOf(buffer).users.back() == task && !rowOf(buffer).liveOut) {
          ranges[rowOf(buffer).device.index()].release(places_.offsets[buffer], rowOf(buffer).bytes,
                                                       ++moment);
        }
      }
    }
  }

  void take(FreeRanges& ranges, BufferId buffer, uint32_t task) {
    for (const BufferId before : ranges.take(places_.offsets[buffer], rowOf(buffer).bytes, buffer)) {
      for (const uint32_t user : rowOf(before).users) {
        places_.orderings.push_back({user, task});
      }
    }
  }

  const LowPeakOrder& lowPeak_;
  const SideTable<DeviceId, int64_t>& available_;
  std::vector<uint32_t> turn_; // by task
  StaticOffsets places_;
};

} // namespace

std::optional<StaticOffsets> assignStaticOffsets(const LowPeakOrder& lowPeak,
                                                 const SideTable<DeviceId, int64_t>& available) {
  return StaticOffsetAssigner(lowPeak, available).run();
}

} // namespace dfc
