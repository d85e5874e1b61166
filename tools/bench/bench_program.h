// The program dfc-bench: what dfc itself costs, beside its baselines; `dfc-bench experiments` and `dfc-bench
// peers`: the book's experiments on this host's devices, and PyTorch's, JAX's and cuBLASLt's times beside
// them.
#pragma once

#include "tools/dfc/console.h"

namespace dfc::tool {

/// Parses the words (without the program's name) and measures. Throws what the machine or a bug throws.
Exit runBench(const std::vector<std::string>& words, Console& console);

} // namespace dfc::tool
