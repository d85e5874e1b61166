// A custom op as a kernel of a host device: it calls the author's function.
#pragma once

#include "ir/graph/custom_calls.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

/// The kernel of a custom op; keeps a copy of its function. `functions` has it, and `graph` outlives the
/// kernel.
std::unique_ptr<CpuKernel> makeCustomKernel(const Graph& graph, OpId op, const CustomFunctions& functions);

} // namespace dfc
