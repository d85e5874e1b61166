// What networks are made of: products, norms, convolutions, pools, attention, losses.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using Word = std::optional<std::string>;

Precision precisionOfWord(const Word& word) { return precisionOf(nb::cast(word)); }

void bindProducts(nb::module_& module) {
  module.def(
      "matmul",
      [](const Arg& a, const Arg& b, bool transposeA, bool transposeB, const Word& precision) {
        Call call(writerOf("matmul", {&a, &b}));
        return call.value(matmul(call.operand(a), call.operand(b), {.a = transposeA, .b = transposeB},
                                 precisionOfWord(precision)));
      },
      "a"_a, "b"_a, nb::kw_only(), "transpose_a"_a = false, "transpose_b"_a = false,
      "precision"_a = nb::none(),
      "Matrix products of the last two axes, batched over the axes before them, which broadcast: "
      "[..., m, k] x [..., k, n] -> [..., m, n]. float16 and bfloat16 are summed in float32. precision: "
      "'ieee', "
      "'tf32', 'bf16' or 'f16' of float32 operands; None: as the plan is compiled.");
  module.def(
      "attention",
      [](const Arg& q, const Arg& k, const Arg& v, bool causal, const std::optional<double>& scale,
         const std::optional<Arg>& mask, const Word& precision) {
        Call call(writerOf("attention", {&q, &k, &v}));
        AttentionOptions options;
        options.causal = causal;
        options.scale = scale;
        options.precision = precisionOfWord(precision);
        if (mask && !mask->is_none()) {
          options.mask = call.tensor(*mask);
        }
        return call.value(attention(call.operand(q), call.operand(k), call.operand(v), options));
      },
      "q"_a, "k"_a, "v"_a, nb::kw_only(), "causal"_a = false, "scale"_a = nb::none(), "mask"_a = nb::none(),
      "precision"_a = nb::none(),
      "Scaled dot-product attention (Vaswani et al. 2017). q: [batch…, heads, queries, width], k: [batch…, "
      "key_heads, keys, width], v: [batch…, key_heads, keys, value_width]; result: [batch…, heads, queries, "
      "value_width]. heads is a multiple of key_heads. scale: None for 1 / sqrt(width). mask: bool, "
      "broadcasts "
      "to the scores, true where a query may see a key. A query that sees no key gives zeros.");
  module.def(
      "embedding",
      [](const Arg& table, const Arg& ids) {
        Call call(writerOf("embedding", {&table, &ids}));
        return call.value(embedding(call.operand(table), call.operand(ids)));
      },
      "table"_a, "ids"_a,
      "The rows of `table` [entries, width] that `ids` (int32 or int64, any shape) name: [ids…, width]. An "
      "id "
      "below 0 counts from the end; one out of range gives NaN.");
}

void bindNorms(nb::module_& module) {
  module.def(
      "layer_norm",
      [](const Arg& a, const Arg& scale, const Arg& bias, int64_t axis, double epsilon) {
        Call call(writerOf("layer_norm", {&a, &scale, &bias}));
        return call.value(layerNorm(call.operand(a), call.operand(scale), call.operand(bias), axis, epsilon));
      },
      "a"_a, "scale"_a, "bias"_a, "axis"_a = -1, "epsilon"_a = 1e-5,
      "(a - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance over `axis` and all after it; "
      "scale and bias have the shape of those axes (Ba, Kiros and Hinton 2016).");
  module.def(
      "rms_norm",
      [](const Arg& a, const Arg& scale, int64_t axis, double epsilon) {
        Call call(writerOf("rms_norm", {&a, &scale}));
        return call.value(rmsNorm(call.operand(a), call.operand(scale), axis, epsilon));
      },
      "a"_a, "scale"_a, "axis"_a = -1, "epsilon"_a = 1e-5,
      "a / sqrt(mean of a^2 + epsilon) * scale, the mean over `axis` and all after it (Zhang and Sennrich "
      "2019).");
  module.def(
      "batch_norm",
      [](const Arg& a, const Arg& scale, const Arg& bias, const Arg& mean, const Arg& variance, int64_t axis,
         double epsilon) {
        Call call(writerOf("batch_norm", {&a, &scale, &bias, &mean, &variance}));
        return call.value(batchNorm(call.operand(a), call.operand(scale), call.operand(bias),
                                    call.operand(mean), call.operand(variance), axis, epsilon));
      },
      "a"_a, "scale"_a, "bias"_a, "mean"_a, "variance"_a, "axis"_a = 1, "epsilon"_a = 1e-5,
      "(a - mean) / sqrt(variance + epsilon) * scale + bias with a number of each for each channel, which is "
      "`axis`; for inference (Ioffe and Szegedy 2015).");
  module.def(
      "batch_norm_training",
      [](const Arg& a, const Arg& scale, const Arg& bias, int64_t axis, double epsilon) {
        Call call(writerOf("batch_norm_training", {&a, &scale, &bias}));
        const Normalised normalised =
            batchNormTraining(call.operand(a), call.operand(scale), call.operand(bias), axis, epsilon);
        return std::tuple(call.value(normalised.result), call.value(normalised.mean),
                          call.value(normalised.variance));
      },
      "a"_a, "scale"_a, "bias"_a, "axis"_a = 1, "epsilon"_a = 1e-5,
      "a normalised by its own mean and variance over all axes but `axis`, scaled and shifted; the mean and "
      "the "
      "variance (not corrected) of each channel.");
  module.def(
      "dropout",
      [](const Arg& a, const Arg& step, double rate, int64_t seed) {
        Call call(writerOf("dropout", {&a, &step}));
        return call.value(dropout(call.operand(a), call.operand(step), rate, seed));
      },
      "a"_a, "step"_a, "rate"_a = 0.5, "seed"_a = 0,
      "Each element is 0 with probability `rate`, else a / (1 - rate) (Srivastava et al. 2014), by seed, "
      "index "
      "and `step`, an int64 scalar: count it up to draw anew.");
}

/// Of keyword arguments; None: the default.
Window windowOf(const AxesLike& strides, const AxesLike& low, const AxesLike& high,
                const AxesLike& dilations) {
  return {axesOf(strides), axesOf(low), axesOf(high), axesOf(dilations)};
}

void bindWindows(nb::module_& module) {
  module.def(
      "conv2d",
      [](const Arg& a, const Arg& filter, const AxesLike& strides, const AxesLike& low, const AxesLike& high,
         const AxesLike& dilations, int64_t groups, const Word& precision) {
        Call call(writerOf("conv2d", {&a, &filter}));
        return call.value(conv2d(call.operand(a), call.operand(filter),
                                 windowOf(strides, low, high, dilations), groups,
                                 precisionOfWord(precision)));
      },
      "a"_a, "filter"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(), "groups"_a = 1, "precision"_a = nb::none(),
      "Cross-correlation of a [N, C, H, W] with filter [M, C / groups, KH, KW]: [N, M, H', W'], of floats. "
      "low, "
      "high: padding before and behind each of the last two axes. None: strides and dilations of 1, no "
      "padding.");
  module.def(
      "max_pool",
      [](const Arg& a, const DimsLike& size, const AxesLike& strides, const AxesLike& low,
         const AxesLike& high, const AxesLike& dilations) {
        Call call(writerOf("max_pool", {&a}));
        return call.value(maxPool(call.operand(a), dimsOf(size), windowOf(strides, low, high, dilations)));
      },
      "a"_a, "size"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(),
      "The largest element of each window of size [h, w] over the last two axes of a [N, C, H, W].");
  module.def(
      "average_pool",
      [](const Arg& a, const DimsLike& size, const AxesLike& strides, const AxesLike& low,
         const AxesLike& high, const AxesLike& dilations, bool countPadding) {
        Call call(writerOf("average_pool", {&a}));
        return call.value(averagePool(call.operand(a), dimsOf(size), windowOf(strides, low, high, dilations),
                                      countPadding));
      },
      "a"_a, "size"_a, nb::kw_only(), "strides"_a = nb::none(), "low"_a = nb::none(), "high"_a = nb::none(),
      "dilations"_a = nb::none(), "count_padding"_a = false,
      "The mean of each window of size [h, w]; with count_padding the padding counts as elements.");
}

void bindLosses(nb::module_& module) {
  module.def(
      "softmax",
      [](const Arg& a, int64_t axis) {
        Call call(writerOf("softmax", {&a}));
        return call.value(softmax(call.operand(a), axis));
      },
      "a"_a, "axis"_a = -1, "exp(a) / sum(exp(a)) along `axis`, of floats.");
  module.def(
      "log_softmax",
      [](const Arg& a, int64_t axis) {
        Call call(writerOf("log_softmax", {&a}));
        return call.value(logSoftmax(call.operand(a), axis));
      },
      "a"_a, "axis"_a = -1, "a - log(sum(exp(a))) along `axis`, of floats.");
  module.def(
      "softmax_cross_entropy",
      [](const Arg& logits, const Arg& labels, bool inF32) {
        Call call(writerOf("softmax_cross_entropy", {&logits, &labels}));
        return call.value(softmaxCrossEntropy(call.operand(logits), call.operand(labels),
                                              inF32 ? LossType::F32 : LossType::Unstated));
      },
      "logits"_a, "labels"_a, nb::kw_only(), "in_float32"_a = false,
      "The mean over rows of -log_softmax(logits)[row, label], a scalar. logits: [n, classes] of a float; "
      "labels: [n] of int32 or int64; one outside of [0, classes) gives NaN. in_float32: the loss of 16-bit "
      "logits is float32.");
}

} // namespace

void bindLayers(nb::module_& module) {
  bindProducts(module);
  bindNorms(module);
  bindWindows(module);
  bindLosses(module);
}

} // namespace dfc::python
