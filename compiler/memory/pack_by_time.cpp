#include "compiler/memory/pack_by_time.h"

#include "compiler/memory/byte_counts.h"
#include "ir/plan/memory_plan.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <queue>

namespace dfc {
namespace {

/// The bytes of the arena that may still be in use at the next first write of one queue.
class QueueLiveness {
 public:
  QueueLiveness(size_t storages, const HappensBefore& before) : before_(before), ranges_(storages) {}

  uint32_t pendingFirstWrites = 0;
  const ByteCounts& bytes() const { return bytes_; }

  void addLive(uint32_t storage, const StorageRow& row, int64_t offset) {
    ranges_[storage] = {offset, offset + alignUp(row.bytes), static_cast<uint32_t>(row.last.size())};
    if (row.liveOut || !row.last.empty()) {
      bytes_.claim(offset, ranges_[storage].end);
    }
    for (size_t i = 0; i < row.last.size() && !row.liveOut; ++i) {
      usesOn(row.last[i].first).emplace(row.last[i].second, storage);
    }
  }

  /// Frees the storages whose uses all happen before `step`, the next first write of the queue.
  void advanceTo(StepId step) {
    for (Uses& uses : uses_) {
      const uint32_t ended = before_.countBefore(step, uses.queue);
      for (; !uses.last.empty() && uses.last.top().first < ended; uses.last.pop()) {
        LiveRange& range = ranges_[uses.last.top().second];
        if (--range.usesLeft == 0) {
          bytes_.release(range.begin, range.end);
        }
      }
    }
  }

 private:
  struct LiveRange {
    int64_t begin = 0, end = 0;
    uint32_t usesLeft = 0; ///< queues whose last use of it is not known to happen before the next write
  };
  using LastUse = std::pair<uint32_t, uint32_t>; // position on the queue, storage
  struct Uses {
    QueueId queue;
    std::priority_queue<LastUse, std::vector<LastUse>, std::greater<>> last;
  };

  std::priority_queue<LastUse, std::vector<LastUse>, std::greater<>>& usesOn(QueueId queue) {
    const auto known = llvm::find_if(uses_, [&](const Uses& uses) { return uses.queue == queue; });
    return known != uses_.end() ? known->last : uses_.emplace_back(Uses{queue, {}}).last;
  }

  const HappensBefore& before_;
  ByteCounts bytes_;
  std::vector<LiveRange> ranges_; // by storage
  std::vector<Uses> uses_;
};

class TimePacker {
 public:
  TimePacker(llvm::ArrayRef<TimedStorage> storages, const Schedule& schedule, const HappensBefore& before)
      : storages_(storages), schedule_(schedule), before_(before), liveness_(schedule.queues.size()) {
    packing_.offsets.resize(storages.size());
  }

  Packing run() {
    std::vector<uint32_t> order(storages_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return storages_[a].row->first < storages_[b].row->first;
    });
    for (const TimedStorage& storage : storages_) {
      countFirstWrite(storage);
    }
    for (const uint32_t storage : order) {
      place(storage);
    }
    return std::move(packing_);
  }

 private:
  size_t indexOfQueue(const StorageRow& row) const { return schedule_.steps[row.first].queue.index(); }

  void countFirstWrite(const TimedStorage& storage) {
    std::unique_ptr<QueueLiveness>& liveness = liveness_[indexOfQueue(*storage.row)];
    if (liveness == nullptr) {
      liveness = std::make_unique<QueueLiveness>(storages_.size(), before_);
    }
    ++liveness->pendingFirstWrites;
  }

  void place(uint32_t storage) {
    const StorageRow& row = *storages_[storage].row;
    std::unique_ptr<QueueLiveness>& liveness = liveness_[indexOfQueue(row)];
    liveness->advanceTo(row.first);
    const int64_t offset = offsetFor(storages_[storage], liveness->bytes());
    packing_.offsets[storage] = offset;
    packing_.bytes = std::max(packing_.bytes, offset + row.bytes);
    if (--liveness->pendingFirstWrites == 0) {
      liveness.reset();
    }
    for (const std::unique_ptr<QueueLiveness>& other : liveness_) {
      if (other != nullptr && row.bytes > 0) {
        other->addLive(storage, row, offset);
      }
    }
  }

  static int64_t offsetFor(const TimedStorage& storage, const ByteCounts& bytes) {
    const int64_t preferred = storage.preferredOffset, size = alignUp(storage.row->bytes);
    if (size == 0) {
      return std::max<int64_t>(preferred, 0);
    }
    return preferred >= 0 && bytes.isFree(preferred, preferred + size) ? preferred : bytes.lowestFree(size);
  }

  llvm::ArrayRef<TimedStorage> storages_;
  const Schedule& schedule_;
  const HappensBefore& before_;
  /// By queue; null for queues without first writes to come.
  std::vector<std::unique_ptr<QueueLiveness>> liveness_;
  Packing packing_;
};

} // namespace

Packing packByTime(llvm::ArrayRef<TimedStorage> storages, const Schedule& schedule,
                   const HappensBefore& before) {
  return TimePacker(storages, schedule, before).run();
}

} // namespace dfc
