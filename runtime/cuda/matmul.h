// Batched matrix products by cuBLASLt, with an epilogue where cuBLASLt has it: bias, ReLU, and
// `c + alpha * product` (a parameter's update).
#pragma once

#include "ir/tensor_type.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/work.h"

#include <string>
#include <vector>

namespace dfc::cuda {

/// One matmul of the plan: result = epilogue(alpha * a·b + c) where a is [..., m, k], b is [..., k, n], both
/// before their transposes, and the batch axes broadcast as NumPy does.
struct MatmulCall {
  TensorType a, b, result;
  bool transposeA = false, transposeB = false;
  bool tf32 = false; ///< f32 operands may be rounded to tf32
  double alpha = 1;
  const std::byte* aData = nullptr;
  const std::byte* bData = nullptr;
  const std::byte* addend = nullptr; ///< of the result's type and shape, or null; may be `out`
  const std::byte* bias = nullptr;   ///< [n], of the result's element type, or null
  bool relu = false;
  std::byte* out = nullptr;
  std::string choice; ///< one of `matmulChoices`; "" leaves it to cuBLASLt's heuristic
};

/// Whether cuBLASLt multiplies this element type: f32, f64, f16, bf16.
bool hasMatmul(ElementType type);

inline constexpr int64_t matmulWorkspaceBytes = int64_t{32} << 20;

/// One a process and device; made when first asked for.
cublasLtHandle_t matmulHandle(int ordinal);

/// The algorithms that cuBLASLt proposes for a product, best guess first, each in words of ours that the same
/// version of cuBLASLt understands again.
std::vector<std::string> matmulChoices(const MatmulCall& call, int ordinal, int atMost);

/// Chooses the algorithm by cuBLASLt's own heuristic, which is the same at every opening. `workspace` holds
/// matmulWorkspaceBytes and is the queue's own. Throws MachineError when cuBLASLt has no algorithm.
std::unique_ptr<Work> makeMatmul(const MatmulCall& call, int ordinal, std::byte* workspace);

} // namespace dfc::cuda
