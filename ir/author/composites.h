// Formulas that models are written with: they appear in the graph as the ops that they are made of, said to
// be written where the call is, and are differentiated, fused and placed like any other.
#pragma once

#include "ir/author/dsl.h"
#include "ir/base/visibility.h"

#include <optional>

namespace DFC_PUBLIC dfc {

/// How `attention` weighs.
struct AttentionOptions {
  bool causal = false;              ///< query i sees keys 0, …, i only
  std::optional<double> scale = {}; ///< of the scores, not 0; none: 1 / sqrt(width)
  Tensor mask = {}; ///< bool, broadcasts to the scores: true where a query may see a key; empty: everywhere
  Precision precision = Precision::Unstated; ///< of its products, where the elements are f32
};

/// Scaled dot-product attention (Vaswani et al. 2017): softmax(scale q kᵀ) v over the keys that a query sees.
/// q: [batch…, heads, queries, width], k: [batch…, keyHeads, keys, width], v: [batch…, keyHeads, keys,
/// valueWidth]; result: [batch…, heads, queries, valueWidth]. heads is a multiple of keyHeads: neighbouring
/// heads of q share a head of k and v (grouped-query attention). Of two axes, there is one head; batch axes
/// broadcast. Element type: a float, the same for all. A query that sees no key gives zeros. One op of the
/// table (ir/graph/ops/attention): where every kind of device has a kernel for its type and widths, the
/// scores are never stored; otherwise it becomes products and a softmax.
Tensor attention(Operand q, Operand k, Operand v, AttentionOptions options = {});

/// The rows of `table` [entries, width] that `ids` (i32 or i64, any shape) name: [ids…, width]. An id below 0
/// counts from the end; one out of range gives NaN. The gradient adds up the rows of repeated ids.
Tensor embedding(Operand table, Operand ids);

/// Each of `groups` groups of channels by its own mean and variance, then times `scale` plus `bias`, one of
/// each for a channel (Wu and He 2018). a: floats [batch, channels, …]; groups divides the channels. With one
/// group for each channel it is instance normalisation.
Tensor groupNorm(Operand a, Operand scale, Operand bias, int64_t groups, double epsilon = 1e-5);

/// How new elements are made of old ones.
enum class ResizeMethod : uint8_t {
  Nearest, ///< of any element type: element i is old element i * from / to, rounded down
  Linear,  ///< between the two nearest along each axis
  Cubic,   ///< of the four nearest (Keys 1981, a = -0.75)
};
/// How `resize` makes elements. But for the nearest, the corners of both pictures coincide, or with
/// alignCorners the centres of their corner elements.
struct ResizeOptions {
  ResizeMethod method = ResizeMethod::Nearest; ///< how
  bool alignCorners = false;                   ///< not of the nearest
};
/// a with its last axes as long as `sizes` say, one for each, as PyTorch's interpolate makes them: elements
/// that are left out have no part in it (no antialiasing).
Tensor resize(Operand a, Dims sizes, ResizeOptions options = {});

/// The transpose of conv2d: each element of a [N, C, H, W] adds filter [C, M / groups, KH, KW], times itself,
/// to its window of the result [N, M, H', W']; H' = (H - 1) * stride - low - high + dilation * (KH - 1) + 1 +
/// outputPadding, which is behind, and below the stride or the dilation. One number stands for both axes.
Tensor convTranspose2d(Operand a, Operand filter, Window window = {}, Dims outputPadding = {},
                       int64_t groups = 1, Precision precision = Precision::Unstated);

/// log(1 + a) of floats, with all digits where a is small.
Tensor log1p(Operand a);
/// exp(a) - 1 of floats, with all digits where a is small.
Tensor expm1(Operand a);

/// Sums of products whose axes have letters, as NumPy's einsum: einsum("bhqd,bhkd->bhqk", {q, k}). "..."
/// stands for the axes before those that are named, which broadcast; a letter twice in a term is a diagonal;
/// without an arrow the result has every letter that stands once, in alphabetical order. Two operands at a
/// time, from the left, by a matmul where letters are summed.
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              std::source_location where = std::source_location::current());

/// Of each row along the last axis of `logits` an index, i64, drawn with the probabilities softmax(logits):
/// the largest of logits - log(-log u), u uniform (Gumbel 1954). `step` and `seed`: of randomUniform; the
/// draw does not depend on the number of devices. A logit of -infinity is never drawn while others are
/// finite. Divide the logits by a temperature first. f32 or f64; f16 and bf16 are drawn in f32.
Tensor categorical(Operand logits, Operand step, int64_t seed = 0);

/// Normally distributed numbers of mean 0 and deviation 1 (Box and Muller 1958). `step`, `type` and `seed`:
/// of randomUniform; the draw does not depend on the number of devices.
Tensor randomNormal(Operand step, const TensorType& type, int64_t seed = 0);

/// logits, with -infinity in the place of all but the k largest along the last axis; of elements equal to the
/// k-th largest all stay (Fan et al. 2018).
Tensor keepTopK(Operand logits, int64_t k);
/// logits, with -infinity in the place of all but the smallest set along the last axis whose probabilities,
/// softmax(logits), add up to p or more (nucleus sampling, Holtzman et al. 2019); of elements equal to the
/// least of it all stay. 0 < p <= 1. `among`: how many of the largest are looked at, 0 for all; sorting fewer
/// is cheaper, and the set is never larger.
Tensor keepTopP(Operand logits, double p, int64_t among = 0);

} // namespace dfc
