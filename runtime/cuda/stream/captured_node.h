// lastCapturedNode: the node of a graph under capture that the next one on a stream will follow.
#pragma once

#include <cuda_runtime_api.h>

#include <optional>

namespace dfc::cuda {

/// Empty where the stream is not captured, or its next node would follow none or several.
std::optional<cudaGraphNode_t> lastCapturedNode(cudaStream_t stream);

} // namespace dfc::cuda
