#include "compiler/schedule/processor_sharing.h"

#include "ir/base/assert.h"

#include <algorithm>

namespace dfc {

void ProcessorSharing::start(uint32_t task, uint32_t device, double now, double seconds, double utilisation) {
  tasks_[task] = {seconds, now, utilisation, device, 0};
  ends_.emplace(now + seconds / (utilisation > 0 ? devices_[device].speed : 1), task, 0);
  ++count_;
  if (utilisation > 0) {
    devices_[device].tasks.push_back(task);
    changeSpeed(devices_[device], now);
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
  Device& device = devices_[tasks_[task].device];
  const auto mine = std::find(device.tasks.begin(), device.tasks.end(), task);
  if (mine != device.tasks.end()) {
    device.tasks.erase(mine);
    changeSpeed(device, now);
  }
  return task;
}

// An unchanged speed leaves the predicted ends untouched, to the bit.
void ProcessorSharing::changeSpeed(Device& device, double now) {
  double wanted = 0;
  for (const uint32_t task : device.tasks) {
    wanted += tasks_[task].utilisation;
  }
  const double speed = wanted > 1 ? 1 / wanted : 1;
  if (speed == device.speed) {
    return;
  }
  for (const uint32_t task : device.tasks) {
    Running& row = tasks_[task];
    row.left = std::max(0.0, row.left - (now - row.since) * device.speed);
    row.since = now;
    ends_.emplace(now + row.left / speed, task, ++row.version);
  }
  device.speed = speed;
}

void ProcessorSharing::dropOld() {
  DFC_ASSERT(count_ > 0, "nothing is under way");
  while (std::get<2>(ends_.top()) != tasks_[std::get<1>(ends_.top())].version) {
    ends_.pop();
  }
}

} // namespace dfc
