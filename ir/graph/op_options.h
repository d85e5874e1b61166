// The choices that ops leave to an author, apart from the ops themselves, so that public headers can name
// them.
#pragma once

#include "ir/base/visibility.h"

#include <cstdint>

namespace DFC_PUBLIC dfc {

/// The formula of `gelu`: with the error function, or with tanh (Hendrycks and Gimpel 2016).
enum class Approximation : uint8_t {
  None, ///< a (1 + erf(a / sqrt(2))) / 2
  Tanh, ///< a (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) / 2
};

/// Which comparison `compare` makes. With NaN all are false but Ne.
enum class Direction : uint8_t {
  Eq, ///< a == b
  Ne, ///< a != b
  Lt, ///< a < b
  Le, ///< a <= b
  Gt, ///< a > b
  Ge, ///< a >= b
};

/// How products of f32 operands are taken: those of matrices, of attention and of convolutions. Other element
/// types have one precision and ignore it. The sums are in f32 always.
enum class Precision : uint8_t {
  Unstated, ///< as the plan is compiled (CompileOptions::precision); Ieee without that
  Ieee,     ///< as f32
  Tf32,     ///< a backend may round the operands to tf32 (10 bits behind the point)
  Bf16,     ///< operands and results are rounded to bf16 (mixed precision, Micikevicius et al. 2018)
  F16,      ///< the same to f16, whose range is small: losses are scaled (LossScaling)
};

/// The element type of softmaxCrossEntropy's result.
enum class LossType : uint8_t {
  Unstated, ///< that of the logits
  F32,      ///< f32, beside f16 or bf16 logits
};

/// The element type of a normalisation's result, which is computed in that of the operand either way.
enum class NormResult : uint8_t {
  Unstated, ///< that of the operand
  F16,      ///< f16, beside an f32 operand
  Bf16,     ///< bf16, beside an f32 operand
};

/// The order of the axes of attention's tensors.
enum class AttentionLayout : uint8_t {
  Heads, ///< q [batch…, heads, queries, width], logSumExp [batch…, heads, queries]
  Rows, ///< q [batch…, queries, heads, width], logSumExp [batch…, queries, heads]: as projections give them
  Packed, ///< Rows, with q, k and v the same [batch…, rows, heads + 2 keyHeads, width]: one projection's
          ///< result
};

/// The order in memory of the axes of images, and of the filters of convolutions: batch (or filter) N,
/// channel C, row H, column W. Units for 16-bit and tf32 products are fastest with the channels last.
enum class ImageLayout : uint8_t {
  Nchw,     ///< images [N, C, H, W], filters [M, C / groups, KH, KW]
  Nhwc,     ///< images [N, H, W, C], filters [M, KH, KW, C / groups]
  NhwcOihw, ///< images [N, H, W, C], filters [M, C / groups, KH, KW]: of convolutions, whose kernels on CPUs
            ///< pack filters anyway
};

} // namespace dfc
