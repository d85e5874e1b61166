// This host as a machine: what the operating system says and what a second of measuring shows. GPUs are
// described by the backend that can open them.
#pragma once

#include "ir/base/visibility.h"
#include "ir/machine/machine.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// One cpu with all cores of this process, the memory of the host (or of its control group), and rates that
/// are estimates: 10 GB/s of memory and 16 GFLOP/s of f32 a core, half for f64, launch 2 µs.
Machine estimatedHost();

/// The same with measured rates: copies of 32 MB by each of all threads; 1024 x 1024 matmuls in f32 and f64,
/// a chain of tiny sums (`launch`) and one of tiny products (`matmulLaunch`), as a session runs them. Types
/// that are not measured take the f32 rate.
Result<Machine> measuredHost();

/// Adds the real GPUs of this host, with their links; false where there is none. Measured latencies between
/// host and GPU are those of ops that wait for one another (host_links.h). Throws MachineError.
bool addGpus(Machine& machine, bool measure);

/// Why the machine file has no GPU.
std::string whyNoGpu();

} // namespace dfc
