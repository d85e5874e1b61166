#include "runtime/cuda/stream/captured_node.h"

#include "runtime/cuda/check.h"

namespace dfc::cuda {

std::optional<cudaGraphNode_t> lastCapturedNode(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  const cudaGraphNode_t* last = nullptr;
  size_t count = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &count),
        "finding a captured node");
  return status == cudaStreamCaptureStatusActive && count == 1 ? std::optional(last[0]) : std::nullopt;
}

} // namespace dfc::cuda
