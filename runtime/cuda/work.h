// What a command does on a stream. Prepared once at load, enqueued each round (or once, while a CUDA graph is
// captured). The addresses are fixed: a GPU computes in its arena alone.
#pragma once

#include <cuda_runtime_api.h>
#include <llvm/ADT/SmallVector.h>

#include <cstddef>
#include <memory>

namespace dfc::cuda {

class Work {
 public:
  virtual ~Work() = default;
  /// Returns without waiting. Throws MachineError.
  virtual void enqueue(cudaStream_t stream) = 0;
};

/// Where an op's operands and results lie, and what it may scribble on while it runs.
struct Addresses {
  llvm::SmallVector<std::byte*, 4> operands;
  llvm::SmallVector<std::byte*, 2> results;
};

} // namespace dfc::cuda
