// Marks for NVIDIA's profilers (Nsight Systems and Compute) through NVTX 3, which is headers alone: the
// library behind it is the profiler's own, found when the first call is made.
#pragma once

#include "runtime/marks.h"

namespace dfc::cuda {

/// Ranges of the domain "dfc", with names as registered strings and the step as payload; null where no
/// profiler that takes them is attached to this process, or this build had no NVTX headers.
Marks* nvtxMarks();

/// Calls a cudaStream_t by this name in the profiler; nothing where there is none.
void nameStream(void* stream, const std::string& name);

} // namespace dfc::cuda
