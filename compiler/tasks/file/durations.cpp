#include "compiler/tasks/file/durations.h"

#include <algorithm>

namespace dfc {

Durations::Durations(const TaskMachine& machine) : row_(machine.devices.size()) {
  for (uint32_t i = 0; i < machine.devices.size(); ++i) {
    deviceOf_[machine.devices[i].name] = i;
    names_.push_back(machine.devices[i].name);
  }
  for (const TaskMachine::Device& device : machine.devices) {
    const auto [kind, isNew] = kindOf_.try_emplace(device.kind, static_cast<uint32_t>(kindOf_.size()));
    if (isNew && deviceOf_.count(device.kind) == 0) {
      names_.push_back(device.kind);
    }
    kindOfDevice_.push_back(kind->second);
  }
  byKind_.resize(kindOf_.size());
  clear();
}

void Durations::clear() {
  std::fill(row_.begin(), row_.end(), infiniteSeconds);
  std::fill(byKind_.begin(), byKind_.end(), infiniteSeconds);
  byDevice_.clear();
  given_.clear();
}

void Durations::set(size_t device, double seconds) {
  if (device < row_.size()) {
    row_[device] = seconds;
  }
}

bool Durations::set(const std::string& name, double seconds) {
  given_.push_back(name);
  const auto kind = kindOf_.find(name);
  const auto device = deviceOf_.find(name);
  if (kind != kindOf_.end()) {
    byKind_[kind->second] = seconds;
  }
  if (device != deviceOf_.end()) {
    byDevice_.emplace_back(device->second, seconds);
  }
  return kind != kindOf_.end() || device != deviceOf_.end();
}

bool Durations::has(const std::string& name) const {
  return std::find(given_.begin(), given_.end(), name) != given_.end();
}

void Durations::finishNames() {
  for (size_t device = 0; device < row_.size(); ++device) {
    row_[device] = byKind_[kindOfDevice_[device]];
  }
  for (const auto& [device, seconds] : byDevice_) {
    row_[device] = seconds;
  }
}

void Durations::keepOnly(size_t device) {
  for (size_t other = 0; other < row_.size(); ++other) {
    row_[other] = other == device ? row_[other] : infiniteSeconds;
  }
}

bool Durations::runsSomewhere() const {
  return std::any_of(row_.begin(), row_.end(), [](double seconds) { return seconds < infiniteSeconds; });
}

} // namespace dfc
