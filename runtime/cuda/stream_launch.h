// What a command does on a stream. Prepared once at load, enqueued each round (or once, while a CUDA graph is
// captured). The addresses are fixed: a GPU computes in its arena alone.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace dfc::cuda {

class StreamLaunch {
 public:
  virtual ~StreamLaunch() = default;
  /// Returns without waiting. Throws MachineError.
  virtual void enqueue(cudaStream_t stream) = 0;
  /// The same where the stream waits for a kernel of another GPU, ahead of whose end nothing is launched:
  /// that is for kernels of one GPU.
  virtual void enqueueBehind(cudaStream_t stream) { enqueue(stream); }
};

} // namespace dfc::cuda
