// Machines of papers: hosts of eight GPUs, with the rates that their makers publish.
#pragma once

#include "ir/machine/machine.h"

namespace dfc::bench {

inline constexpr size_t gpusPerHost = 8;

/// AWS p3.16xlarge: hosts of eight V100s of 16 GB, on a network of 25 Gb/s a host.
Machine v100Hosts(size_t gpus);
/// DGX A100: hosts of eight A100s of 80 GB, each GPU with a network port of 200 Gb/s.
Machine a100Hosts(size_t gpus);

} // namespace dfc::bench
