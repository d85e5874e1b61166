// Cycle removal: as long as the rewritten waits have a cycle, the first sixteenth of the chosen reads whose
// reader lies on a cycle, or on a path between two cycles, is given up, at least one: their transfers stay
// copies, and the waits are rewritten without them. A sixteenth, so that large plans take few rounds.
#include "compiler/lower/peer_reads.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

class Lowering {
 public:
  Lowering(const Schedule& schedule, const std::vector<PeerRead>& reads)
      : schedule_(schedule), reader_(schedule_.steps.size()), isReader_(schedule_.steps.size()),
        waits_(schedule_.steps.size()) {
    for (const PeerRead& read : reads) {
      reader_[read.transfer] = read.reader;
      isReader_[read.reader] = true;
    }
    for (const StepId step : schedule_.steps.ids()) {
      waits_[step] = schedule_.steps[step].waits;
    }
    for (const PeerRead& read : reads) {
      inheritWaits(read);
    }
    for (const PeerRead& read : reads) {
      waits_[read.transfer].clear();
      llvm::erase_if(waits_[read.reader], [&](StepId wait) { return wait == read.transfer; });
    }
    delaySuccessors();
    for (const StepId step : waits_.ids()) {
      dropImpliedWaits(step);
    }
  }

  StepWaits waits() && { return std::move(waits_); }

  // Hoists the waits of consecutive readers to the first step of their run, unless a step between the two is
  // awaited or the plan predicts that one of the waits ends after that first step starts.
  StepWaits hoistedWaits() && {
    const SideTable<StepId, bool> awaited = findAwaited();
    for (const QueueRow& queue : schedule_.queues) {
      StepId first; // of a run of steps without waits or awaited ends between them
      for (const StepId step : queue.steps) {
        if (!first.valid() || (!waits_[step].empty() && !hoistWaits(first, step))) {
          first = step;
        }
        first = awaited[step] ? StepId() : first;
      }
    }
    return std::move(waits_);
  }

 private:
  bool comesFirst(StepId a, StepId b) const { // on one queue
    return schedule_.steps[a].queue == schedule_.steps[b].queue &&
           schedule_.steps[a].position < schedule_.steps[b].position;
  }

  // The step before the transfer on its queue must precede the reader, too. If that step is a replaced
  // transfer, no wait is needed where its reader is this one or an earlier one on the same queue: that reader
  // has the waits already.
  void inheritWaits(const PeerRead& read) {
    StepList& waits = waits_[read.reader];
    waits.append(schedule_.steps[read.transfer].waits.begin(), schedule_.steps[read.transfer].waits.end());
    const StepId before = previousOf(schedule_, read.transfer);
    const StepId reader = before.valid() ? reader_[before] : StepId();
    const bool follows = reader.valid() && (reader == read.reader || comesFirst(reader, read.reader));
    if (before.valid() && !follows) {
      waits.push_back(before);
    }
  }

  SideTable<StepId, bool> findAwaited() const {
    return awaitedSteps(waits_.size(), [&](StepId step) -> llvm::ArrayRef<StepId> { return waits_[step]; });
  }

  // The next step behind a replaced transfer, on its queue, that does work or is awaited waits for the
  // transfer's reader. Behind a queue's last step there is only the end of the plan's execution, which waits
  // for all queues. Values that no step computes are fetched on the first queue of a device, which has no
  // transfers.
  void delaySuccessors() {
    const SideTable<StepId, bool> awaited = findAwaited();
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

  // Keeps the last wait for each other queue: the queue's order implies the earlier ones.
  void dropImpliedWaits(StepId step) {
    StepList& waits = waits_[step];
    const auto key = [&](StepId wait) { // by queue, and the last of each queue first
      const StepRow& row = schedule_.steps[wait];
      return std::pair(row.queue.index(), -int64_t{row.position});
    };
    llvm::sort(waits, [&](StepId a, StepId b) { return key(a) < key(b); });
    waits.erase(
        std::unique(waits.begin(), waits.end(),
                    [&](StepId a, StepId b) { return schedule_.steps[a].queue == schedule_.steps[b].queue; }),
        waits.end());
    llvm::erase_if(waits, [&](StepId wait) { return wait == step || comesFirst(wait, step); });
  }

  bool hoistWaits(StepId first, StepId step) {
    const double start = schedule_.steps[first].start;
    if (!isReader_[step] ||
        llvm::any_of(waits_[step], [&](StepId wait) { return schedule_.steps[wait].end > start; })) {
      return false;
    }
    waits_[first].append(waits_[step].begin(), waits_[step].end());
    waits_[step].clear();
    dropImpliedWaits(first);
    return true;
  }

  const Schedule& schedule_;
  SideTable<StepId, StepId> reader_; // of a replaced transfer
  SideTable<StepId, bool> isReader_; // whether the step is one of these readers
  StepWaits waits_;
};

} // namespace

PeerReads lowerPeerReads(const Schedule& schedule, std::vector<PeerRead> chosen) {
  const size_t steps = schedule.steps.size();
  StepWaits waits = Lowering(schedule, chosen).waits();
  std::vector<StepId> order = orderOf(schedule, waits);
  while (order.size() < steps) {
    const SideTable<StepId, bool> cycles = cyclesOf(schedule, waits, order);
    const auto isOnCycle = [&](const PeerRead& read) { return cycles[read.reader]; };
    const auto onCycles = llvm::count_if(chosen, isOnCycle);
    DFC_ASSERT(onCycles > 0, "a schedule's own waits have a cycle");
    ptrdiff_t left = std::max<ptrdiff_t>(1, onCycles / 16);
    llvm::erase_if(chosen, [&](const PeerRead& read) { return left > 0 && isOnCycle(read) && left-- > 0; });
    waits = Lowering(schedule, chosen).waits();
    order = orderOf(schedule, waits);
  }
  if (StepWaits hoisted = Lowering(schedule, chosen).hoistedWaits();
      orderOf(schedule, hoisted).size() == steps) {
    return {std::move(chosen), std::move(hoisted)};
  }
  return {std::move(chosen), std::move(waits)};
}

} // namespace dfc::cuda
