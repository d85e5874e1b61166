// Host devices: they compute with threads of the host in memory of the host. They are the devices of the cpu
// backend, and of the emulated backend, which hides the memory from other devices and fills it with NaN
// first. Both run the kernels of cpu/kernels, so both give the same bits.
#pragma once

#include "runtime/backend.h"

namespace dfc {

/// The threads of a device for which a machine file says `wanted`, at least one. On a host with cores to
/// spare, two cores are left to the threads that submit steps and launch kernels.
uint32_t hostThreads(uint32_t wanted);

struct HostDeviceTraits {
  bool addressable = true;    ///< whether other devices may touch its memory directly
  bool filledWithNan = false; ///< every byte 0xFF when allocated: NaN in every float type
};

/// The devices of a host backend, one a request.
std::unique_ptr<DeviceGroup> openHostDevices(llvm::ArrayRef<DeviceRequest> devices, HostDeviceTraits traits,
                                             const BackendOptions& options);

/// Whether the host's kernels can run the op: every op of the table that computes, views and state included.
bool hasHostKernel(const Graph& graph, OpId op);

} // namespace dfc
