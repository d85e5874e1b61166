#include "compiler/memory/memory_gate.h"

#include <algorithm>

namespace dfc {

MemoryGate::MemoryGate(const PatientOrder& patient, const SideTable<DeviceId, int64_t>& room, RoomRule rule)
    : patient_(patient), room_(room), rule_(rule), turn_(patient.order.size()),
      started_(patient.order.size()), heldBy_(patient.order.size()), holds_(patient.order.size()),
      usersLeft_(patient.demand.buffers.size()), usersToCome_(patient.demand.buffers.size()),
      offsets_(patient.demand.buffers.size(), -1), profile_(room.size()), rooms_(room.size()) {
  const auto turns = static_cast<uint32_t>(patient.order.size());
  for (uint32_t i = 0; i < turns; ++i) {
    turn_[patient.order[i]] = i;
  }
  for (const TaskOrdering& ordering : patient.orderings) {
    holds_[ordering.before].push_back(ordering.after);
    ++heldBy_[ordering.after];
  }
  for (const BufferId buffer : patient.demand.buffers.ids()) {
    const BufferRow& row = patient.demand.buffers[buffer];
    if (!profile_[row.device]) {
      profile_[row.device].emplace(turns);
      rooms_[row.device].emplace(room[row.device]);
    }
    usersLeft_[buffer] = usersToCome_[buffer] = static_cast<uint32_t>(row.users.size());
    profile_[row.device]->add(turn_[row.users.front()], row.toEnd ? turns : turn_[row.users.back()] + 1,
                              row.bytes);
  }
}

bool MemoryGate::start(uint32_t task) {
  if (heldBy_[task] > 0) {
    return false;
  }
  started_[task] = true;
  changes_.clear();
  shortened_.clear();
  foresee(task);
  if (isSafe(task) && findRoom(task)) {
    while (nextTurn_ < patient_.order.size() && started_[patient_.order[nextTurn_]]) {
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
  return false;
}

/// The profile as it is once the task has run ahead of its turn.
void MemoryGate::foresee(uint32_t task) {
  const TaskDemand& demand = patient_.demand.tasks[task];
  for (const BufferId buffer : demand.makes) {
    const BufferRow& row = patient_.demand.buffers[buffer];
    change(row.device, nextTurn_, turn_[task], row.bytes);
  }
  for (const BufferId buffer : demand.uses) {
    if (!patient_.demand.buffers[buffer].toEnd) {
      shorten(buffer);
    }
  }
}

void MemoryGate::shorten(BufferId buffer) {
  const BufferRow& row = patient_.demand.buffers[buffer];
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

void MemoryGate::change(DeviceId device, uint32_t first, uint32_t last, int64_t bytes) {
  profile_[device]->add(first, last, bytes);
  changes_.push_back({device, first, last, bytes});
}

bool MemoryGate::isSafe(uint32_t task) {
  const auto& makes = patient_.demand.tasks[task].makes;
  if (makes.empty()) {
    return true; // it takes nothing, and the others need no more than before
  }
  const DeviceId device = patient_.demand.buffers[makes.front()].device;
  const uint32_t first = turn_[task] == nextTurn_ ? nextTurn_ + 1 : nextTurn_;
  return profile_[device]->most(first) <= room_[device];
}

bool MemoryGate::findRoom(uint32_t task) {
  const auto& makes = patient_.demand.tasks[task].makes;
  if (makes.empty()) {
    return true;
  }
  Room& room = *rooms_[patient_.demand.buffers[makes.front()].device];
  if (makes.size() == 1) {
    return place(makes.front(), task, room);
  }
  Room trial = room;
  const size_t reuses = reuses_.size();
  for (const BufferId buffer : makes) {
    if (!place(buffer, task, trial)) {
      reuses_.resize(reuses);
      return false;
    }
  }
  room = std::move(trial);
  return true;
}

bool MemoryGate::place(BufferId buffer, uint32_t task, Room& room) {
  const int64_t bytes = patient_.demand.buffers[buffer].bytes;
  const auto offset = room.find(bytes, rule_);
  if (!offset) {
    return false;
  }
  offsets_[buffer] = *offset;
  for (const BufferId before : room.take(*offset, bytes, buffer)) {
    reuses_.push_back({before, task});
  }
  return true;
}

void MemoryGate::end(uint32_t task) {
  for (const uint32_t held : holds_[task]) {
    --heldBy_[held];
  }
  for (const BufferId buffer : patient_.demand.tasks[task].uses) {
    const BufferRow& row = patient_.demand.buffers[buffer];
    if (--usersLeft_[buffer] == 0 && !row.toEnd) {
      rooms_[row.device]->release(offsets_[buffer], row.bytes, ++moment_);
    }
  }
}

uint32_t MemoryGate::next() const {
  return nextTurn_ < patient_.order.size() ? patient_.order[nextTurn_] : noTask;
}

} // namespace dfc
