#include "compiler/memory/timed_offsets.h"

#include "compiler/memory/pack.h"
#include "ir/plan/memory_plan.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t mostBuffers = 4096; ///< of a device

/// Of a buffer, in positions of the run: from its first user to the first task that starts behind the end of
/// all users. Positions are distinct where times are not.
struct Lifetime {
  uint32_t begin = 0, end = 0;
};

class TimedOffsetAssigner {
 public:
  TimedOffsetAssigner(const LowPeakOrder& lowPeak, const ListResult& times,
                      const SideTable<DeviceId, int64_t>& available)
      : buffers_(lowPeak.requirements.buffers), lowPeak_(lowPeak), times_(times), available_(available),
        position_(times.order.size()), lifetimes_(buffers_.size()) {
    for (uint32_t i = 0; i < position_.size(); ++i) {
      position_[times.order[i]] = i;
    }
    for (const BufferId buffer : buffers_.ids()) {
      lifetimes_[buffer] = lifetimeOf(buffers_[buffer]);
    }
    made_.offsets = SideTable<BufferId, int64_t>(buffers_.size(), -1);
  }

  std::optional<TimedOffsets> run() {
    SideTable<DeviceId, std::vector<BufferId>> byDevice(available_.size());
    for (const BufferId buffer : buffers_.ids()) {
      byDevice[buffers_[buffer].device].push_back(buffer);
    }
    for (const DeviceId device : available_.ids()) {
      if (!packDevice(byDevice[device], available_[device])) {
        return std::nullopt;
      }
    }
    findReuses();
    return std::move(made_);
  }

 private:
  Lifetime lifetimeOf(const BufferRow& row) const {
    Lifetime life{static_cast<uint32_t>(position_.size()), 0};
    double ended = 0;
    for (const uint32_t user : row.users) {
      life.begin = std::min(life.begin, position_[user]);
      life.end = std::max(life.end, position_[user] + 1);
      ended = std::max(ended, times_.end[user]);
    }
    if (row.liveOut) {
      life.end = static_cast<uint32_t>(position_.size());
      return life;
    }
    const auto behind =
        llvm::partition_point(times_.order, [&](uint32_t task) { return times_.start[task] < ended; });
    life.end = std::max(life.end, static_cast<uint32_t>(behind - times_.order.begin()));
    return life;
  }

  bool packDevice(llvm::ArrayRef<BufferId> buffers, int64_t available) {
    if (buffers.size() > mostBuffers) {
      return false;
    }
    std::vector<PackBuffer> rows;
    rows.reserve(buffers.size());
    for (const BufferId buffer : buffers) {
      rows.push_back({buffers_[buffer].bytes, static_cast<double>(lifetimes_[buffer].begin),
                      static_cast<double>(lifetimes_[buffer].end)});
    }
    const Packing packing = pack(rows, arenaAlignment, [&](size_t a, size_t b) {
      return rows[a].begin < rows[b].end && rows[b].begin < rows[a].end;
    });
    for (size_t i = 0; i < buffers.size(); ++i) {
      made_.offsets[buffers[i]] = packing.offsets[i];
    }
    return buffers.empty() || packing.bytes <= available;
  }

  void findReuses() {
    std::vector<std::vector<BufferId>> ending(position_.size() + 1);
    for (const BufferId buffer : buffers_.ids()) {
      ending[lifetimes_[buffer].end].push_back(buffer);
    }
    std::vector<FreeRanges> ranges;
    for (const DeviceId device : available_.ids()) {
      ranges.emplace_back(available_[device]);
    }
    uint32_t moment = 0;
    for (uint32_t i = 0; i < position_.size(); ++i) {
      for (const BufferId buffer : ending[i]) {
        const BufferRow& row = buffers_[buffer];
        ranges[row.device.index()].release(made_.offsets[buffer], row.bytes, ++moment);
      }
      const uint32_t task = times_.order[i];
      for (const BufferId buffer : lowPeak_.requirements.tasks[task].allocates) {
        const BufferRow& row = buffers_[buffer];
        for (const BufferId before :
             ranges[row.device.index()].take(made_.offsets[buffer], row.bytes, buffer)) {
          made_.reuses.push_back({before, task});
        }
      }
    }
  }

  const Table<BufferId, BufferRow>& buffers_;
  const LowPeakOrder& lowPeak_;
  const ListResult& times_;
  const SideTable<DeviceId, int64_t>& available_;
  std::vector<uint32_t> position_; // by task: in the order of starts
  SideTable<BufferId, Lifetime> lifetimes_;
  TimedOffsets made_;
};

} // namespace

std::optional<TimedOffsets> assignTimedOffsets(const LowPeakOrder& lowPeak, const ListResult& times,
                                               const SideTable<DeviceId, int64_t>& available) {
  return TimedOffsetAssigner(lowPeak, times, available).run();
}

} // namespace dfc
