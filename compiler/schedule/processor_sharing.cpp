#include "compiler/schedule/processor_sharing.h"

#include "ir/base/assert.h"

#include <algorithm>

namespace dfc {

void ProcessorSharing::start(uint32_t task, double now, double seconds, ResourceUse first,
                             ResourceUse second) {
  Running& row = tasks_[task];
  row = {seconds, now, 1, {first, second}, 0};
  row.speed = speedOf(row);
  ends_.emplace(now + seconds / row.speed, task, 0);
  ++count_;
  for (const ResourceUse& use : row.uses) {
    if (use.utilisation > 0) {
      resources_[use.resource].tasks.push_back(task);
      changeSpeed(use.resource, now);
    }
  }
}

double ProcessorSharing::next() {
  dropOld();
  return std::get<0>(ends_.top());
}

uint32_t ProcessorSharing::end() {
  dropOld();
  const auto [now, task, version] = ends_.top();
  ends_.pop();
  --count_;
  for (const ResourceUse& use : tasks_[task].uses) {
    if (use.utilisation > 0) {
      std::vector<uint32_t>& tasks = resources_[use.resource].tasks;
      tasks.erase(std::find(tasks.begin(), tasks.end(), task));
      changeSpeed(use.resource, now);
    }
  }
  return task;
}

double ProcessorSharing::speedOf(const Running& row) const {
  double speed = 1;
  for (const ResourceUse& use : row.uses) {
    speed = use.utilisation > 0 ? std::min(speed, resources_[use.resource].speed) : speed;
  }
  return speed;
}

double ProcessorSharing::utilisationOf(uint32_t task, uint32_t resource) const {
  const auto& [first, second] = tasks_[task].uses;
  return first.utilisation > 0 && first.resource == resource ? first.utilisation : second.utilisation;
}

// An unchanged speed leaves the predicted ends untouched, to the bit.
void ProcessorSharing::changeSpeed(uint32_t resource, double now) {
  double wanted = 0;
  for (const uint32_t task : resources_[resource].tasks) {
    wanted += utilisationOf(task, resource);
  }
  const double speed = wanted > 1 ? 1 / wanted : 1;
  if (speed == resources_[resource].speed) {
    return;
  }
  resources_[resource].speed = speed;
  for (const uint32_t task : resources_[resource].tasks) {
    Running& row = tasks_[task];
    const double next = speedOf(row);
    if (next != row.speed) {
      row.left = std::max(0.0, row.left - (now - row.since) * row.speed);
      row.since = now;
      row.speed = next;
      ends_.emplace(now + row.left / next, task, ++row.version);
    }
  }
}

void ProcessorSharing::dropOld() {
  DFC_ASSERT(count_ > 0, "nothing is under way");
  while (std::get<2>(ends_.top()) != tasks_[std::get<1>(ends_.top())].version) {
    ends_.pop();
  }
}

} // namespace dfc
