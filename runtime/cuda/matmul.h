// Batched matrix products by cuBLASLt.
#pragma once

#include "runtime/cuda/launches/matmul_call.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/work.h"

#include <string>
#include <vector>

namespace dfc::cuda {

inline constexpr int64_t matmulWorkspaceBytes = int64_t{32} << 20;

/// One a process and device; made when first asked for.
cublasLtHandle_t matmulHandle(int ordinal);

/// The algorithms that cuBLASLt proposes for a product without its epilogue, best guess first, that can end
/// in any epilogue; each in words of ours that the same version of cuBLASLt understands again.
std::vector<std::string> matmulChoices(const MatmulCall& call, int ordinal, int atMost);

/// Chooses the algorithm by cuBLASLt's own heuristic, which is the same at every opening. `workspace` holds
/// matmulWorkspaceBytes and is the queue's own. Throws MachineError when cuBLASLt has no algorithm.
std::unique_ptr<Work> makeMatmul(const MatmulCall& call, int ordinal, std::byte* workspace);

} // namespace dfc::cuda
