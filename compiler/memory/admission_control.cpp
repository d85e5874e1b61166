#include "compiler/memory/admission_control.h"

#include <algorithm>

namespace dfc {

AdmissionControl::AdmissionControl(const LowPeakOrder& lowPeak, const SideTable<DeviceId, int64_t>& available,
                                   std::optional<FitRule> rule)
    : lowPeak_(lowPeak), available_(available), rule_(rule), turn_(lowPeak.order.size()),
      started_(lowPeak.order.size()), unmetConstraints_(lowPeak.order.size()), holds_(lowPeak.order.size()),
      usersLeft_(lowPeak.requirements.buffers.size()), usersToCome_(lowPeak.requirements.buffers.size()),
      offsets_(lowPeak.requirements.buffers.size(), -1), profile_(available.size()),
      freeRanges_(available.size()), freeBytes_(available), starts_(available.size(), 1),
      refusals_(lowPeak.order.size()) {
  const auto turns = static_cast<uint32_t>(lowPeak.order.size());
  for (uint32_t i = 0; i < turns; ++i) {
    turn_[lowPeak.order[i]] = i;
  }
  for (const TaskOrdering& ordering : lowPeak.orderings) {
    holds_[ordering.before].push_back(ordering.after);
    ++unmetConstraints_[ordering.after];
  }
  for (const BufferId buffer : lowPeak.requirements.buffers.ids()) {
    const BufferRow& row = lowPeak.requirements.buffers[buffer];
    if (!profile_[row.device]) {
      profile_[row.device].emplace(turns);
      freeRanges_[row.device].emplace(available[row.device]);
    }
    usersLeft_[buffer] = usersToCome_[buffer] = static_cast<uint32_t>(row.users.size());
    profile_[row.device]->add(turn_[row.users.front()], row.liveOut ? turns : turn_[row.users.back()] + 1,
                              row.bytes);
  }
}

bool AdmissionControl::start(uint32_t task) {
  if (unmetConstraints_[task] > 0 || isRefusedAnyway(task)) {
    return false;
  }
  started_[task] = true;
  changes_.clear();
  shortened_.clear();
  applyTentatively(task);
  const bool safe = isSafe(task);
  if (safe && allocate(task)) {
    for (const Change& change : changes_) {
      ++starts_[change.device];
    }
    while (nextTurn_ < lowPeak_.order.size() && started_[lowPeak_.order[nextTurn_]]) {
      ++nextTurn_;
    }
    return true;
  }
  for (const Change& change : changes_) {
    profile_[change.device]->add(change.first, change.last, -change.bytes);
  }
  for (const auto& [buffer, users] : shortened_) {
    usersToCome_[buffer] = users;
  }
  started_[task] = false;
  if (!safe) {
    refusals_[task] = {starts_[deviceOf(task)], nextTurn_};
  }
  return false;
}

/// Without a look at the turns to come: too few bytes are free, or nothing has changed since the task was
/// unsafe.
bool AdmissionControl::isRefusedAnyway(uint32_t task) const {
  if (lowPeak_.requirements.tasks[task].allocates.empty()) {
    return false;
  }
  const DeviceId device = deviceOf(task);
  return bytesOf(task) > freeBytes_[device] || refusals_[task] == Refusal{starts_[device], nextTurn_};
}

int64_t AdmissionControl::bytesOf(uint32_t task) const {
  int64_t bytes = 0;
  for (const BufferId buffer : lowPeak_.requirements.tasks[task].allocates) {
    bytes += lowPeak_.requirements.buffers[buffer].bytes;
  }
  return bytes;
}

// Of a task that allocates. A task runs on one device, and all its results are there.
DeviceId AdmissionControl::deviceOf(uint32_t task) const {
  return lowPeak_.requirements.buffers[lowPeak_.requirements.tasks[task].allocates.front()].device;
}

/// Updates the profile of the turns to come as if the task had started ahead of its turn.
void AdmissionControl::applyTentatively(uint32_t task) {
  const TaskBuffers& requirements = lowPeak_.requirements.tasks[task];
  for (const BufferId buffer : requirements.allocates) {
    const BufferRow& row = lowPeak_.requirements.buffers[buffer];
    change(row.device, nextTurn_, turn_[task], row.bytes);
  }
  for (const BufferId buffer : requirements.uses) {
    if (!lowPeak_.requirements.buffers[buffer].liveOut) {
      shorten(buffer);
    }
  }
}

void AdmissionControl::shorten(BufferId buffer) {
  const BufferRow& row = lowPeak_.requirements.buffers[buffer];
  const uint32_t old = usersToCome_[buffer];
  uint32_t left = old;
  while (left > 0 && started_[row.users[left - 1]]) {
    --left;
  }
  if (left < old) {
    shortened_.emplace_back(buffer, old);
    usersToCome_[buffer] = left;
    const uint32_t until = left > 0 ? turn_[row.users[left - 1]] + 1 : nextTurn_;
    change(row.device, until, turn_[row.users[old - 1]] + 1, -row.bytes);
  }
}

void AdmissionControl::change(DeviceId device, uint32_t first, uint32_t last, int64_t bytes) {
  profile_[device]->add(first, last, bytes);
  changes_.push_back({device, first, last, bytes});
}

bool AdmissionControl::isSafe(uint32_t task) {
  const auto& allocates = lowPeak_.requirements.tasks[task].allocates;
  if (allocates.empty()) {
    return true; // it allocates nothing, and the others need no more than before
  }
  const DeviceId device = deviceOf(task);
  const uint32_t first = turn_[task] == nextTurn_ ? nextTurn_ + 1 : nextTurn_;
  return profile_[device]->most(first) <= available_[device];
}

bool AdmissionControl::allocate(uint32_t task) {
  const auto& allocates = lowPeak_.requirements.tasks[task].allocates;
  if (allocates.empty()) {
    return true;
  }
  const DeviceId device = deviceOf(task);
  if (rule_ && !place(allocates, task, *freeRanges_[device])) {
    return false;
  }
  freeBytes_[device] -= bytesOf(task);
  return true;
}

// All results of a task are on one device, so one free list serves them.
bool AdmissionControl::place(llvm::ArrayRef<BufferId> allocates, uint32_t task, FreeRanges& ranges) {
  if (allocates.size() == 1) {
    return place(allocates.front(), task, ranges);
  }
  FreeRanges trial = ranges;
  const size_t reuses = reuses_.size();
  for (const BufferId buffer : allocates) {
    if (!place(buffer, task, trial)) {
      reuses_.resize(reuses);
      return false;
    }
  }
  ranges = std::move(trial);
  return true;
}

bool AdmissionControl::place(BufferId buffer, uint32_t task, FreeRanges& ranges) {
  const int64_t bytes = lowPeak_.requirements.buffers[buffer].bytes;
  const auto offset = ranges.find(bytes, *rule_);
  if (!offset) {
    return false;
  }
  offsets_[buffer] = *offset;
  for (const BufferId before : ranges.take(*offset, bytes, buffer)) {
    reuses_.push_back({before, task});
  }
  return true;
}

void AdmissionControl::end(uint32_t task) {
  for (const uint32_t after : holds_[task]) {
    --unmetConstraints_[after];
  }
  for (const BufferId buffer : lowPeak_.requirements.tasks[task].uses) {
    const BufferRow& row = lowPeak_.requirements.buffers[buffer];
    if (--usersLeft_[buffer] > 0 || row.liveOut) {
      continue;
    }
    freeBytes_[row.device] += row.bytes;
    if (rule_) {
      freeRanges_[row.device]->release(offsets_[buffer], row.bytes, ++clock_);
    }
  }
}

uint32_t AdmissionControl::next() const {
  return nextTurn_ < lowPeak_.order.size() ? lowPeak_.order[nextTurn_] : noTask;
}

} // namespace dfc
