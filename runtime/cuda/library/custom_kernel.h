// The kernel that a custom op brings, as a launch.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/stream_launch.h"

namespace dfc::cuda {

/// The binary of a custom op's source for an architecture ("sm_90"); asks no GPU. Throws Error, located at
/// the op, with the compiler's log.
std::string compileCustom(const Graph& graph, OpId op, const std::string& architecture);

/// The launch of a custom op's kernel on GPU `ordinal`, with `pointers` to its operands and results. Throws
/// Error, located at the op, where its source does not compile or has no such kernel.
std::unique_ptr<StreamLaunch> customLaunch(const Graph& graph, OpId op, llvm::ArrayRef<std::byte*> pointers,
                                           KernelLibrary& library, const std::string& architecture,
                                           int ordinal);

} // namespace dfc::cuda
