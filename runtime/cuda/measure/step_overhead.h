// What a step costs beside its ops: launching its CUDA graph, the way into its streams and out of them, and
// the kernel that tells the host of its end.
#pragma once

namespace dfc::cuda {

/// Seconds of a step of one empty kernel, captured as `Group` captures a step and launched again and again,
/// less the kernel's own (`kernelSeconds`, of Stopwatch::launchCost); not less than 0. Throws MachineError.
double stepOverhead(int ordinal, double kernelSeconds);

} // namespace dfc::cuda
