// What decoders of text are made of: slices at places that a step decides, draws, and caches of keys and
// values.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/kv_cache.h"
#include "ir/author/quantized.h"
#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/op.h"

#include <memory>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

void bindSlices(nb::module_& module) {
  bindOp(
      module, "dynamic_slice",
      [](Tensor a, Tensor starts, const Dims& sizes, const Axes& axes) {
        return dynamicSlice(a, starts, sizes, axes);
      },
      "a"_a, "starts"_a, "sizes"_a, "axes"_a = nb::none(),
      "Along axes[i], sizes[i] elements of a from starts[i] on; all along the other axes. starts: int32 or "
      "int64, a "
      "vector, or a scalar for one axis; clamped, so that what is taken lies inside. None: all axes, in "
      "order.");
  bindOp(
      module, "dynamic_update_slice",
      [](Tensor a, Tensor update, Tensor starts, const Axes& axes) {
        return dynamicUpdateSlice(a, update, starts, axes);
      },
      "a"_a, "update"_a, "starts"_a, "axes"_a = nb::none(),
      "a with `update` in the place of as many of its elements, from starts[i] on along axes[i].");
}

void bindDraws(nb::module_& module) {
  bindOp(
      module, "random_uniform",
      [](Tensor step, const Dims& shape, ElementType dtype, int64_t seed) {
        return randomUniform(step, typeOf(shape, dtype), seed);
      },
      "step"_a, "shape"_a, "dtype"_a = ElementType::F32, "seed"_a = 0,
      "Numbers between 0 and 1, both exclusive, float32 or float64, by seed, index and `step`, an int64 "
      "scalar: "
      "count it up to draw anew. The same on every device, whatever their number.");
  bindOp(
      module, "random_normal",
      [](Tensor step, const Dims& shape, ElementType dtype, int64_t seed) {
        return randomNormal(step, typeOf(shape, dtype), seed);
      },
      "step"_a, "shape"_a, "dtype"_a = ElementType::F32, "seed"_a = 0,
      "Normally distributed numbers of mean 0 and deviation 1. step, shape, dtype, seed: of random_uniform.");
  bindOp(
      module, "categorical",
      [](Tensor logits, Tensor step, int64_t seed) { return categorical(logits, step, seed); }, "logits"_a,
      "step"_a, "seed"_a = 0,
      "Of each row along the last axis an index, int64, drawn with the probabilities softmax(logits). Divide "
      "the "
      "logits by a temperature first. step, seed: of random_uniform.");
  bindOp(
      module, "keep_top_k", [](Tensor logits, int64_t k) { return keepTopK(logits, k); }, "logits"_a, "k"_a,
      "logits, with -infinity in the place of all but the k largest along the last axis.");
  bindOp(
      module, "keep_top_p", [](Tensor logits, double p, int64_t among) { return keepTopP(logits, p, among); },
      "logits"_a, "p"_a, "among"_a = 0,
      "logits, with -infinity in the place of all but the smallest set along the last axis whose "
      "probabilities "
      "add up to p or more (Holtzman et al. 2019). among: how many of the largest are looked at, 0 for all.");
}

void bindQuantised(nb::module_& module) {
  module.def(
      "quantize",
      [](nb::handle matrix, int64_t bits, int64_t group) {
        QuantizedMatrix made =
            orRaise(quantize(literalOf(matrix, Sharing::Shared, std::nullopt, "quantize"), {bits, group}));
        return nb::make_tuple(numpyOf(std::move(made.weights)), numpyOf(std::move(made.scales)));
      },
      "matrix"_a, "bits"_a = 8, "group"_a = 0,
      "A matrix of floats, [n, k], as arrays for quantized_matmul: (weights, scales). Every run of `group` "
      "elements of a row has a scale of its own, the whole row where it is 0.",
      nb::sig("def quantize(matrix: numpy.typing.ArrayLike, bits: int = 8, group: int = 0) -> "
              "tuple[numpy.ndarray, numpy.ndarray]"));
  bindOp(
      module, "quantized_matmul",
      [](Tensor a, Tensor weights, Tensor scales, int64_t bits) {
        return quantizedMatmul(a, weights, scales, bits);
      },
      "a"_a, "weights"_a, "scales"_a, "bits"_a = 8,
      "a, [..., m, k], times the transpose of a quantised matrix [n, k], dequantised as it is read: weights "
      "uint8 [n, k * bits / 8], scales [n, runs] of a's type, as quantize gives them.");
  bindOp(
      module, "dequantized",
      [](Tensor weights, Tensor scales, int64_t bits) { return dequantized(weights, scales, bits); },
      "weights"_a, "scales"_a, "bits"_a = 8, "The matrix [n, k] that weights and scales hold.");
}

using Cache = Written<KvCache>;

void construct(Cache* self, std::shared_ptr<Writer> writer, const std::string& name, int64_t batch,
               int64_t heads, int64_t rows, int64_t width, const DTypeLike& dtype, bool ring,
               int64_t window) {
  Call call(writer);
  const KvCacheSizes sizes{batch, heads, rows, width, elementTypeOf(dtype), ring, window};
  auto cache = std::make_unique<KvCache>(call.builder(), name, sizes);
  call.raiseMistakes();
  new (self) Cache{std::move(writer), std::move(cache)};
}

void bindCaches(nb::module_& module) {
  nb::class_<Cache> cache(
      module, "KvCache",
      "The keys and values of the tokens that a decoder has seen, kept from step to step as the "
      "parameters '<name>.keys' and '<name>.values', [batch, heads, rows, width].");
  cache.def(
      "__init__", construct, "builder"_a, "name"_a, nb::kw_only(), "batch"_a = 1, "heads"_a, "rows"_a,
      "width"_a, "dtype"_a = ElementType::F32, "ring"_a = false, "window"_a = 0,
      "rows: tokens that are kept. ring: a token takes the row of the one `rows` before it. window: tokens "
      "that a query sees, 0 for all that are kept.");
  bindMethod(
      cache, "attend",
      [](KvCache& self, Tensor q, Tensor k, Tensor v, Tensor position, std::optional<double> scale) {
        return self.attend(q, k, v, position, {.scale = scale});
      },
      "q"_a, "k"_a, "v"_a, "position"_a, "scale"_a = nb::none(),
      "Causal attention of the step's tokens over the cache and themselves. q: [batch, query heads, tokens, "
      "width]; k and v: [batch, heads, tokens, width], which become rows of the cache. position: int64 of no "
      "axes, that of the first of the tokens; a text begins anew at 0. Once in a graph.");
  bindMethod(
      module, "counted_position",
      [](Builder& g, const std::string& name, int64_t tokens, MaybeTensor reset) {
        return countedPosition(g, name, tokens, reset);
      },
      "builder"_a, "name"_a, "tokens"_a, "reset"_a = nb::none(),
      "A position that the plan keeps: a parameter `name`, int64, from 0 on, to which each step adds "
      "`tokens`. reset: "
      "bool of no axes, true in a step that begins a text anew.");
}

} // namespace

void bindDecoding(nb::module_& module) {
  bindSlices(module);
  bindDraws(module);
  bindQuantised(module);
  bindCaches(module);
}

} // namespace dfc::python
