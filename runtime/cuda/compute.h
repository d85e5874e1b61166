// A queue's computations as launches on a stream: matrix products through cuBLASLt, convolutions through
// cuDNN where the machine has it, everything else through generated kernels, compiled together. Which
// launches there are is decided in launches/.
#pragma once

#include "runtime/cuda/launches/computation.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream_launch.h"

namespace dfc::cuda {

/// What a queue computes on.
struct ComputeSite {
  int ordinal = 0;
  std::string architecture;
  KernelLibrary* library = nullptr;
  std::byte* matmulWorkspace = nullptr; ///< matmulWorkspaceBytes
};

struct ComputeLaunch {
  std::unique_ptr<StreamLaunch> work;
  uint32_t position = 0;              ///< of the command at whose turn it is enqueued
  std::vector<uint32_t> computations; ///< that it works for, by index; never empty
};

/// In order, positions ascending. Computations without elements have none.
struct ComputeLaunches {
  DeviceBuffer workspace; ///< of the generated kernels
  std::vector<ComputeLaunch> launches;
};

/// `merge`: launches may be merged and moved within regions; else each computation's own follow one another.
/// Throws MachineError, naming the op.
ComputeLaunches makeLaunches(const Graph& graph, const std::vector<Computation>& computations,
                             const ComputeSite& site, bool merge);

} // namespace dfc::cuda
