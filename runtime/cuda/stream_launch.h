// StreamLaunch: a kernel launch or library call that is put on a stream. Prepared once at load, enqueued each
// step, or once while a CUDA graph is captured. Its addresses are fixed: they lie in the GPU's arena, or a
// peer's.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace dfc::cuda {

class StreamLaunch {
 public:
  virtual ~StreamLaunch() = default;
  /// Returns without waiting. Throws MachineError.
  virtual void enqueue(cudaStream_t stream) = 0;
  /// The same where the stream waits for a kernel of another GPU. Programmatic dependent launch, ahead of a
  /// kernel's end, is only for dependences within one GPU.
  virtual void enqueueBehind(cudaStream_t stream) { enqueue(stream); }
};

} // namespace dfc::cuda
