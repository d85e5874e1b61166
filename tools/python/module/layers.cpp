// What networks are made of: products, norms, convolutions, pools, attention, softmax.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
void bindProducts(nb::module_& module) {
  bindOp(
      module, "einsum_of",
      [](const std::string& equation, const Tensors& operands) { return einsum(equation, operands); },
      "subscripts"_a, "operands"_a,
      "Sums of products whose axes have letters: einsum is shorter. '...' stands for axes that broadcast.");
  bindOp(
      module, "matmul",
      [](Numeric a, Numeric b, bool transposeA, bool transposeB, Precision precision) {
        return matmul(a, b, {.a = transposeA, .b = transposeB}, precision);
      },
      "a"_a, "b"_a, nb::kw_only(), "transpose_a"_a = false, "transpose_b"_a = false,
      "precision"_a = nb::none(),
      "Matrix products of the last two axes, batched over the axes before them, which broadcast: "
      "[..., m, k] x [..., k, n] -> [..., m, n]. A vector is a row before b or a column behind a, and its "
      "axis goes. float16 and bfloat16 are summed in float32. precision: "
      "'ieee', "
      "'tf32', 'bf16' or 'f16' of float32 operands; None: as the plan is compiled.");
  bindOp(
      module, "attention",
      [](Operand q, Operand k, Operand v, bool causal, std::optional<double> scale, MaybeTensor mask,
         Precision precision) {
        return attention(q, k, v, {.causal = causal, .scale = scale, .mask = mask, .precision = precision});
      },
      "q"_a, "k"_a, "v"_a, nb::kw_only(), "causal"_a = false, "scale"_a = nb::none(), "mask"_a = nb::none(),
      "precision"_a = nb::none(),
      "Scaled dot-product attention (Vaswani et al. 2017). q: [batch…, heads, queries, width], k: [batch…, "
      "key_heads, keys, width], v: [batch…, key_heads, keys, value_width]; result: [batch…, heads, queries, "
      "value_width]. heads is a multiple of key_heads. scale: None for 1 / sqrt(width). mask: bool, "
      "broadcasts "
      "to the scores, true where a query may see a key. A query that sees no key gives zeros.");
  bindOp(
      module, "embedding", [](Operand table, Operand ids) { return embedding(table, ids); }, "table"_a,
      "ids"_a,
      "The rows of `table` [entries, width] that `ids` (int32 or int64, any shape) name: [ids…, width]. An "
      "id "
      "below 0 counts from the end; one out of range gives NaN.");
}

void bindNorms(nb::module_& module) {
  bindOp(
      module, "layer_norm",
      [](Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
        return layerNorm(a, scale, bias, axis, epsilon);
      },
      "a"_a, "scale"_a, "bias"_a, "axis"_a = -1, "epsilon"_a = 1e-5,
      "(a - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance over `axis` and all after it; "
      "scale and bias have the shape of those axes (Ba, Kiros and Hinton 2016).");
  bindOp(
      module, "group_norm",
      [](Operand a, Operand scale, Operand bias, int64_t groups, double epsilon) {
        return groupNorm(a, scale, bias, groups, epsilon);
      },
      "a"_a, "scale"_a, "bias"_a, "groups"_a, "epsilon"_a = 1e-5,
      "a [batch, channels, ...], each of `groups` groups of channels by its own mean and variance, times "
      "scale "
      "plus bias, one of each for a channel (Wu and He 2018).");
  bindOp(
      module, "rms_norm",
      [](Operand a, Operand scale, int64_t axis, double epsilon) { return rmsNorm(a, scale, axis, epsilon); },
      "a"_a, "scale"_a, "axis"_a = -1, "epsilon"_a = 1e-5,
      "a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and all after it (Zhang and Sennrich "
      "2019).");
  bindOp(
      module, "batch_norm",
      [](Operand a, Operand scale, Operand bias, Operand mean, Operand variance, int64_t axis,
         double epsilon) { return batchNorm(a, scale, bias, mean, variance, axis, epsilon); },
      "a"_a, "scale"_a, "bias"_a, "mean"_a, "variance"_a, "axis"_a = 1, "epsilon"_a = 1e-5,
      "(a - mean) / sqrt(variance + epsilon) * scale + bias with a number of each for each channel, which is "
      "`axis`; for inference (Ioffe and Szegedy 2015).");
  bindOp(
      module, "batch_norm_training",
      [](Operand a, Operand scale, Operand bias, int64_t axis, double epsilon) {
        return batchNormTraining(a, scale, bias, axis, epsilon);
      },
      "a"_a, "scale"_a, "bias"_a, "axis"_a = 1, "epsilon"_a = 1e-5,
      "a normalised by its own mean and variance over all axes but `axis`, scaled and shifted; the mean and "
      "the "
      "variance (not corrected) of each channel.");
  bindOp(
      module, "dropout",
      [](Operand a, Operand step, double rate, int64_t seed) { return dropout(a, step, rate, seed); }, "a"_a,
      "step"_a, "rate"_a = 0.5, "seed"_a = 0,
      "Each element is 0 with probability `rate`, else a / (1 - rate) (Srivastava et al. 2014), by seed, "
      "index "
      "and `step`, an int64 scalar: count it up to draw anew.");
}

/// An int stands for a square.
Dims squareOf(const Dims& size) { return size.size() == 1 ? Dims(2, size[0]) : size; }

/// Of a pool, whose windows lie side by side unless strides are given.
Window poolWindow(const Dims& size, const Axes& strides, const Axes& low, const Axes& high,
                  const Axes& dilations) {
  return {strides.empty() ? size : squareOf(strides), squareOf(low), squareOf(high), squareOf(dilations)};
}

Window windowOf(const Axes& strides, const Axes& low, const Axes& high, const Axes& dilations) {
  return {squareOf(strides), squareOf(low), squareOf(high), squareOf(dilations)};
}

ResizeMethod resizeMethodOf(const std::string& word) {
  if (word == "nearest" || word == "linear" || word == "cubic") {
    return word == "nearest"  ? ResizeMethod::Nearest
           : word == "linear" ? ResizeMethod::Linear
                              : ResizeMethod::Cubic;
  }
  throw nb::value_error(("method '" + word + "' is none of 'nearest', 'linear' and 'cubic'").c_str());
}

void bindWindows(nb::module_& module) {
  bindOp(
      module, "conv2d",
      [](Operand a, Operand filter, const Axes& strides, const Axes& low, const Axes& high,
         const Axes& dilations, int64_t groups, Precision precision) {
        return conv2d(a, filter, windowOf(strides, low, high, dilations), groups, precision);
      },
      "a"_a, "filter"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(), "groups"_a = 1, "precision"_a = nb::none(),
      "Cross-correlation of a [N, C, H, W] with filter [M, C / groups, KH, KW]: [N, M, H', W'], of floats. "
      "low, "
      "high: padding before and behind each of the last two axes. None: strides and dilations of 1, no "
      "padding.");
  bindOp(
      module, "conv_transpose2d",
      [](Operand a, Operand filter, const Axes& strides, const Axes& low, const Axes& high,
         const Axes& dilations, const Axes& outputPadding, int64_t groups, Precision precision) {
        return convTranspose2d(a, filter,
                               {.strides = strides, .low = low, .high = high, .dilations = dilations},
                               outputPadding, groups, precision);
      },
      "a"_a, "filter"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(), "output_padding"_a = nb::none(), "groups"_a = 1, "precision"_a = nb::none(),
      "The transpose of conv2d: each element of a [N, C, H, W] adds filter [C, M / groups, KH, KW], times "
      "itself, to its window of the result [N, M, H', W']; H' = (H - 1) * stride - low - high + dilation * "
      "(KH - 1) + 1 + output_padding, which is behind, and below the stride or the dilation. A number stands "
      "for both axes.");
  bindOp(
      module, "resize",
      [](Operand a, const Dims& sizes, const std::string& method, bool alignCorners) {
        return resize(a, sizes, {.method = resizeMethodOf(method), .alignCorners = alignCorners});
      },
      "a"_a, "sizes"_a, "method"_a = "nearest", nb::kw_only(), "align_corners"_a = false,
      "a with its last axes as long as `sizes` say, one for each, as PyTorch's interpolate makes them. "
      "method: "
      "'nearest' (of any dtype), 'linear' or 'cubic'. But for the nearest, the corners of both pictures "
      "coincide, or with align_corners the centres of their corner elements. No antialiasing.");
  bindOp(
      module, "max_pool",
      [](Operand a, const Dims& size, const Axes& strides, const Axes& low, const Axes& high,
         const Axes& dilations) {
        const Dims square = squareOf(size);
        return maxPool(a, square, poolWindow(square, strides, low, high, dilations));
      },
      "a"_a, "size"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(),
      "The largest element of each window of size [h, w] over the last two axes of a [N, C, H, W]. A number "
      "stands for both axes. strides: None for the windows' size, so that they lie side by side.");
  bindOp(
      module, "average_pool",
      [](Operand a, const Dims& size, const Axes& strides, const Axes& low, const Axes& high,
         const Axes& dilations, bool countPadding) {
        const Dims square = squareOf(size);
        return averagePool(a, square, poolWindow(square, strides, low, high, dilations), countPadding);
      },
      "a"_a, "size"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(), "count_padding"_a = false,
      "The mean of each window of size [h, w]; with count_padding the padding counts as elements. A number "
      "stands for both axes. strides: None for the windows' size.");
}

void bindSoftmax(nb::module_& module) {
  bindOp(
      module, "softmax", [](Operand a, int64_t axis) { return softmax(a, axis); }, "a"_a, "axis"_a = -1,
      "exp(a) / sum(exp(a)) along `axis`, of floats.");
  bindOp(
      module, "log_softmax", [](Operand a, int64_t axis) { return logSoftmax(a, axis); }, "a"_a,
      "axis"_a = -1, "a - log(sum(exp(a))) along `axis`, of floats.");
}

} // namespace

void bindLayers(nb::module_& module) {
  bindProducts(module);
  bindNorms(module);
  bindWindows(module);
  bindSoftmax(module);
}

} // namespace dfc::python
