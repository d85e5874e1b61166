// A queue's computations as launches on a stream: matrix products through cuBLASLt, convolutions through
// cuDNN where the machine has it, everything else through generated kernels, compiled together. launches/
// plans the launches.
#pragma once

#include "ir/machine/gpu_shape.h"
#include "runtime/cuda/launches/computation.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream_launch.h"

namespace dfc::cuda {

/// The GPU that a queue computes on, and what its launches share.
struct ComputeSite {
  int ordinal = 0;
  std::string architecture;
  GpuShape shape;
  KernelLibrary* library = nullptr;
  std::byte* matmulWorkspace = nullptr; ///< matmulWorkspaceBytes
};

struct ComputeLaunch {
  std::unique_ptr<StreamLaunch> streamLaunch;
  uint32_t position = 0;              ///< of the command with which it is enqueued
  std::vector<uint32_t> computations; ///< that it computes, by index; never empty
};

/// In order, positions ascending. A computation without elements has no launch.
struct ComputeLaunches {
  DeviceBuffer workspace; ///< of the generated kernels
  std::vector<ComputeLaunch> launches;
};

/// `merge`: launches may be merged, and moved within regions; else each op has its own, in order.
/// Throws MachineError, naming the op.
ComputeLaunches makeLaunches(const Graph& graph, const std::vector<Computation>& computations,
                             const ComputeSite& site, bool merge);

} // namespace dfc::cuda
