// Batched matrix products by cuBLASLt.
#pragma once

#include "runtime/cuda/library/matmul_problem.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream_launch.h"

#include <string>
#include <vector>

namespace dfc::cuda {

/// One per process and device, created on first use.
cublasLtHandle_t matmulHandle(int ordinal);

/// The algorithms that cuBLASLt proposes for a product without its epilogue, best guess first, that have bias
/// and ReLU as epilogues; each as a text that the same version of cuBLASLt reads back (`algorithmIn`).
std::vector<std::string> matmulChoices(const ProductCall& call, int ordinal, int atMost);

/// Whether the algorithm of the product, which is chosen without its epilogue, has that epilogue on this GPU.
/// Addresses do not matter: the answer decides an op's bits, which are the same wherever its values lie.
bool hasEpilogue(const ProductCall& call, int ordinal);

/// Chooses the algorithm by cuBLASLt's own heuristic, which is the same at every opening. `workspace` holds
/// matmulWorkspaceBytes and is the queue's own. Throws MachineError when cuBLASLt has no algorithm.
std::unique_ptr<StreamLaunch> makeMatmul(const MatmulCall& call, int ordinal, std::byte* workspace);

} // namespace dfc::cuda
