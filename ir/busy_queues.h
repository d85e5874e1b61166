// BusyQueues: numbers for the queues that have steps. A machine may have many more queues than a plan uses,
// and what is kept for every step and queue need not know of those.
#pragma once

#include "ir/schedule.h"

namespace dfc {

class BusyQueues {
 public:
  explicit BusyQueues(const Schedule& schedule) : number_(schedule.queues.size()) {
    for (const QueueId queue : schedule.queues.ids()) {
      number_[queue] = count_;
      count_ += schedule.queues[queue].steps.empty() ? 0 : 1;
    }
  }
  size_t count() const { return count_; }
  uint32_t numberOf(QueueId queue) const { return number_[queue]; } ///< below `count`; of one that has steps

 private:
  SideTable<QueueId, uint32_t> number_;
  uint32_t count_ = 0;
};

} // namespace dfc
