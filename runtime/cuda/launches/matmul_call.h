// MatmulCall: one batched matrix product of the plan as cuBLASLt is called for it, with the epilogues that
// cuBLASLt has: bias, ReLU, GELU, and `c + alpha * product` (a parameter's update).
#pragma once

#include "ir/graph/tensor_type.h"

#include <string>

namespace dfc::cuda {

/// The elementwise function that an epilogue applies last.
enum class Activation : uint8_t {
  None,
  Relu,
  Gelu, ///< the tanh form
};

/// result = activation(alpha * a·b + c) where a is [..., m, k], b is [..., k, n], both before their
/// transposes, and the batch axes broadcast as NumPy does.
struct MatmulCall {
  TensorType a, b, result;
  bool transposeA = false, transposeB = false;
  bool tf32 = false; ///< f32 operands may be rounded to tf32
  double alpha = 1;
  const std::byte* aData = nullptr;
  const std::byte* bData = nullptr;
  const std::byte* addend = nullptr; ///< of the result's type and shape, or null; may be `out`
  const std::byte* bias = nullptr;   ///< [n], of the result's element type, or null
  Activation activation = Activation::None;
  std::byte* out = nullptr;
  std::string choice; ///< one of `matmulChoices`; "" leaves it to cuBLASLt's heuristic
};

/// Whether cuBLASLt multiplies this element type: f32, f64, f16, bf16.
inline bool hasMatmul(ElementType type) { return isFloat(type); }

} // namespace dfc::cuda
