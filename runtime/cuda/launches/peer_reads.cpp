// Waits are rewritten queue by queue; the order is Kahn's topological sort (1962), smallest step first, which
// is the schedule's own order as far as the new waits allow.
#include "runtime/cuda/launches/peer_reads.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace dfc::cuda {
namespace {

class Lowering {
 public:
  Lowering(const Executable& plan, const std::vector<PeerRead>& reads)
      : schedule_(plan.schedule()), reader_(schedule_.steps.size()), reads_(schedule_.steps.size()),
        waits_(schedule_.steps.size()) {
    for (const PeerRead& read : reads) {
      reader_[read.transfer] = read.reader;
      reads_[read.reader] = true;
    }
    for (const StepId step : schedule_.steps.ids()) {
      waits_[step] = schedule_.steps[step].waits;
    }
    for (const PeerRead& read : reads) {
      waitAs(read);
    }
    for (const PeerRead& read : reads) {
      waits_[read.transfer].clear();
      llvm::erase_if(waits_[read.reader], [&](StepId wait) { return wait == read.transfer; });
    }
    holdBack();
    for (const StepId step : waits_.ids()) {
      tidy(step);
    }
  }

  /// Every step, or as many as do not wait for one another in a circle.
  std::vector<StepId> order() const {
    SideTable<StepId, uint32_t> missing(waits_.size());
    SideTable<StepId, StepList> after(waits_.size());
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    for (const StepId step : waits_.ids()) {
      forEachBefore(step, [&](StepId before) {
        ++missing[step];
        after[before].push_back(step);
      });
      if (missing[step] == 0) {
        ready.push(step.index());
      }
    }
    std::vector<StepId> order;
    while (!ready.empty()) {
      order.emplace_back(ready.top());
      ready.pop();
      for (const StepId next : after[order.back()]) {
        if (--missing[next] == 0) {
          ready.push(next.index());
        }
      }
    }
    return order;
  }

  /// The steps in a circle, or between two circles; `order` is what `order()` gave.
  SideTable<StepId, bool> circles(llvm::ArrayRef<StepId> order) const {
    SideTable<StepId, bool> stuck(waits_.size(), true);
    for (const StepId step : order) {
      stuck[step] = false;
    }
    SideTable<StepId, uint32_t> after(waits_.size());
    std::vector<StepId> ends;
    for (const StepId step : waits_.ids()) {
      forEachBefore(step, [&](StepId before) { after[before] += stuck[step] ? 1 : 0; });
    }
    for (const StepId step : waits_.ids()) {
      if (stuck[step] && after[step] == 0) {
        ends.push_back(step);
      }
    }
    while (!ends.empty()) {
      const StepId end = ends.back();
      ends.pop_back();
      stuck[end] = false;
      forEachBefore(end, [&](StepId before) {
        if (--after[before] == 0 && stuck[before]) {
          ends.push_back(before);
        }
      });
    }
    return stuck;
  }

  // Readers of one queue with nothing but unawaited steps between them wait at the first of these, for what
  // the plan has ended by then.
  void waitTogether() {
    const SideTable<StepId, bool> awaited = awaitedSteps();
    for (const QueueRow& queue : schedule_.queues) {
      StepId first; // of the steps that nothing is between
      for (const StepId step : queue.steps) {
        if (!first.valid() || (!waits_[step].empty() && !join(first, step))) {
          first = step;
        }
        first = awaited[step] ? StepId() : first;
      }
    }
  }

  SideTable<StepId, StepList> waits() && { return std::move(waits_); }

 private:
  template <class Action>
  void forEachBefore(StepId step, const Action& action) const {
    const StepId before = previous(step);
    if (before.valid()) {
      action(before);
    }
    llvm::for_each(waits_[step], action);
  }

  StepId previous(StepId step) const {
    const StepRow& row = schedule_.steps[step];
    return row.position > 0 ? schedule_.queues[row.queue].steps[row.position - 1] : StepId();
  }

  bool comesFirst(StepId a, StepId b) const { // on one queue
    return schedule_.steps[a].queue == schedule_.steps[b].queue &&
           schedule_.steps[a].position < schedule_.steps[b].position;
  }

  // What comes before the transfer on its queue comes before the reader, too. A transfer there that is not
  // made either needs no wait if its reader, who waited for all this, is the same or before this one on its
  // queue.
  void waitAs(const PeerRead& read) {
    StepList& waits = waits_[read.reader];
    waits.append(schedule_.steps[read.transfer].waits.begin(), schedule_.steps[read.transfer].waits.end());
    const StepId before = previous(read.transfer);
    const StepId reader = before.valid() ? reader_[before] : StepId();
    const bool follows = reader.valid() && (reader == read.reader || comesFirst(reader, read.reader));
    if (before.valid() && !follows) {
      waits.push_back(before);
    }
  }

  SideTable<StepId, bool> awaitedSteps() const {
    SideTable<StepId, bool> awaited(waits_.size());
    for (const StepId step : waits_.ids()) {
      for (const StepId wait : waits_[step]) {
        awaited[wait] = true;
      }
    }
    return awaited;
  }

  // What follows a transfer that is not made waits for its reader: the next step of the queue that does work
  // or is waited for. Behind its last step only the end of the round follows, which all queues wait for:
  // values that no step makes are fetched on the first queue of a device, where there are no transfers.
  void holdBack() {
    const SideTable<StepId, bool> awaited = awaitedSteps();
    for (const QueueRow& queue : schedule_.queues) {
      StepList readers;
      for (const StepId step : queue.steps) {
        if (reader_[step].valid()) {
          readers.push_back(reader_[step]);
        }
        if (!reader_[step].valid() || awaited[step]) {
          waits_[step].append(readers.begin(), readers.end());
          readers.clear();
        }
      }
    }
  }

  // The last of each other queue; one before it on its own queue follows from that queue's order.
  void tidy(StepId step) {
    StepList& waits = waits_[step];
    llvm::sort(waits, [&](StepId a, StepId b) {
      const StepRow &first = schedule_.steps[a], &second = schedule_.steps[b];
      return std::pair(first.queue.index(), second.position) <
             std::pair(second.queue.index(), first.position);
    });
    waits.erase(
        std::unique(waits.begin(), waits.end(),
                    [&](StepId a, StepId b) { return schedule_.steps[a].queue == schedule_.steps[b].queue; }),
        waits.end());
    llvm::erase_if(waits, [&](StepId wait) { return comesFirst(wait, step); });
  }

  bool join(StepId first, StepId step) {
    const double start = schedule_.steps[first].start;
    if (!reads_[step] ||
        llvm::any_of(waits_[step], [&](StepId wait) { return schedule_.steps[wait].end > start; })) {
      return false;
    }
    waits_[first].append(waits_[step].begin(), waits_[step].end());
    waits_[step].clear();
    tidy(first);
    return true;
  }

  const Schedule& schedule_;
  SideTable<StepId, StepId> reader_; // of a transfer that is not made
  SideTable<StepId, bool> reads_;    // whether it is such a reader
  SideTable<StepId, StepList> waits_;
};

} // namespace

PeerReads lowerPeerReads(const Executable& plan, std::vector<PeerRead> chosen) {
  const size_t steps = plan.schedule().steps.size();
  std::optional<Lowering> lowering;
  std::vector<StepId> order;
  while (order.size() < steps || !lowering) {
    lowering.emplace(plan, chosen);
    order = lowering->order();
    if (order.size() < steps) {
      const SideTable<StepId, bool> circles = lowering->circles(order);
      const auto found = llvm::find_if(chosen, [&](const PeerRead& read) { return circles[read.reader]; });
      DFC_ASSERT(found != chosen.end(), "a schedule's steps wait for one another in a circle");
      chosen.erase(found);
    }
  }
  Lowering together = *lowering;
  together.waitTogether();
  if (std::vector<StepId> other = together.order(); other.size() == steps) {
    lowering.emplace(std::move(together));
    order = std::move(other);
  }
  PeerReads lowered{std::move(chosen), {}, std::move(order)};
  lowered.waits = std::move(*lowering).waits();
  return lowered;
}

} // namespace dfc::cuda
