// Step overhead: the cost of a step beside its ops, which is the launch of its CUDA graph, the fork into and
// the join of its streams, and the kernel that publishes its end to the host.
#pragma once

namespace dfc::cuda {

/// Seconds of a step of one empty kernel, captured as `Group` captures a step and launched again and again,
/// less the kernel's own (`kernelSeconds`, of Stopwatch::launchCost); not less than 0. Throws MachineError.
double stepOverhead(int ordinal, double kernelSeconds);

} // namespace dfc::cuda
