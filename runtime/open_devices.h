// Opening what a plan asks for: a backend for each device that the plan uses, a group of devices for each
// backend, the devices' arenas.
#pragma once

#include "runtime/backend.h"

namespace dfc {

struct SessionOptions; // runtime/session.h

/// Backend names by device kind; empty means the first available one that supports the kind.
struct BackendChoice {
  std::string cpu, gpu;
  std::vector<Backend*> known; ///< in the order of preference
  BackendOptions options = {};
};

/// Between which backends a session with these options chooses.
BackendChoice choiceOf(const SessionOptions& options);

/// The backend of a device kind: the wanted one, or else the first; null where it has no device here.
Backend* backendFor(DeviceKind kind, const BackendChoice& choice);

/// One device of the plan's machine, opened; all null where the plan has neither memory nor work on it.
struct OpenedDevice {
  Backend* backend = nullptr;
  DeviceGroup* group = nullptr; ///< the backend's
  size_t index = 0;             ///< in the group
  std::unique_ptr<Arena> arena;
};

struct OpenedDevices {
  std::vector<std::unique_ptr<DeviceGroup>> groups; ///< one a backend
  std::vector<OpenedDevice> devices;                ///< by device id; last: arenas go before their groups
};

/// Errors: a backend that does not exist, cannot play the device or lacks a kernel that the plan needs.
/// Throws MachineError when a device or its memory cannot be had.
/// `arenaBytes`: of the arenas to allocate, by device; null for the plan's.
Result<OpenedDevices> openDevices(const Executable& plan, const BackendChoice& choice,
                                  const SideTable<DeviceId, int64_t>* arenaBytes = nullptr);

} // namespace dfc
