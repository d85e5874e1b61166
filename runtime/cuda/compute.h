// The works of a program's computations: matrix products through cuBLASLt, everything else through generated
// kernels, compiled together.
#pragma once

#include "runtime/backend.h"
#include "runtime/cuda/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/work.h"

namespace dfc::cuda {

/// What a queue computes on.
struct ComputeSite {
  int ordinal = 0;
  std::string architecture;
  KernelLibrary* library = nullptr;
  std::byte* matmulWorkspace = nullptr; ///< matmulWorkspaceBytes
};

/// Whether the op's product is cuBLASLt's.
bool isLibraryProduct(const Graph& graph, OpId op);

bool hasCudaKernel(const Graph& graph, OpId op);

/// One op of the plan and where its values lie.
struct Computation {
  OpId op;
  Addresses at;
  std::string choice = {}; ///< how the calibration wants its product made; "" for the library's heuristic
};

/// A work a computation, in order; null for one that has nothing to do (no elements). `workspace`: grows to
/// what the queue's kernels need in turn. Throws MachineError, naming the op.
std::vector<std::unique_ptr<Work>> makeWorks(const Graph& graph, const std::vector<Computation>& computations,
                                             const ComputeSite& site, DeviceBuffer& workspace);

} // namespace dfc::cuda
