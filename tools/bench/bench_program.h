// The program dfc-bench. Alone it measures the cost of dfc itself beside its baselines; `dfc-bench
// experiments` and `dfc-bench baselines` run the experiments on this host's devices, the latter beside
// PyTorch, JAX and cuBLASLt.
#pragma once

#include "tools/dfc/console.h"

namespace dfc::tool {

/// Parses the words (without the program's name) and measures. Throws MachineError.
Exit runBench(const std::vector<std::string>& words, Console& console);

} // namespace dfc::tool
