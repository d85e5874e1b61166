// What decoders of text are made of: slices at places that a step decides, draws, and caches of keys and
// values.
#include "ir/author/composites.h"
#include "ir/author/dsl.h"
#include "ir/author/kv_cache.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

void bindSlices(nb::module_& module) {
  module.def(
      "dynamic_slice",
      [](const Arg& a, const Arg& starts, const DimsLike& sizes, const AxesLike& axes) {
        Call call(writerOf("dynamic_slice", {&a, &starts}));
        return call.value(dynamicSlice(call.tensor(a), call.tensor(starts), dimsOf(sizes), axesOf(axes)));
      },
      "a"_a, "starts"_a, "sizes"_a, "axes"_a = nb::none(),
      "Along axes[i], sizes[i] elements of a from starts[i] on; all along the other axes. starts: int32 or "
      "int64, a "
      "vector, or a scalar for one axis; clamped, so that what is taken lies inside. None: all axes, in "
      "order.");
  module.def(
      "dynamic_update_slice",
      [](const Arg& a, const Arg& update, const Arg& starts, const AxesLike& axes) {
        Call call(writerOf("dynamic_update_slice", {&a, &update, &starts}));
        return call.value(
            dynamicUpdateSlice(call.tensor(a), call.tensor(update), call.tensor(starts), axesOf(axes)));
      },
      "a"_a, "update"_a, "starts"_a, "axes"_a = nb::none(),
      "a with `update` in the place of as many of its elements, from starts[i] on along axes[i].");
}

void bindDraws(nb::module_& module) {
  module.def(
      "random_uniform",
      [](const Arg& step, const DimsLike& shape, const DTypeLike& dtype, int64_t seed) {
        Call call(writerOf("random_uniform", {&step}));
        return call.value(randomUniform(call.tensor(step), typeOf(shape, dtype), seed));
      },
      "step"_a, "shape"_a, "dtype"_a = ElementType::F32, "seed"_a = 0,
      "Numbers between 0 and 1, both exclusive, float32 or float64, by seed, index and `step`, an int64 "
      "scalar: "
      "count it up to draw anew. The same on every device, whatever their number.");
  module.def(
      "categorical",
      [](const Arg& logits, const Arg& step, int64_t seed) {
        Call call(writerOf("categorical", {&logits, &step}));
        return call.value(categorical(call.tensor(logits), call.tensor(step), seed));
      },
      "logits"_a, "step"_a, "seed"_a = 0,
      "Of each row along the last axis an index, int64, drawn with the probabilities softmax(logits). Divide "
      "the "
      "logits by a temperature first. step, seed: of random_uniform.");
  module.def(
      "keep_top_k",
      [](const Arg& logits, int64_t k) {
        Call call(writerOf("keep_top_k", {&logits}));
        return call.value(keepTopK(call.tensor(logits), k));
      },
      "logits"_a, "k"_a, "logits, with -infinity in the place of all but the k largest along the last axis.");
  module.def(
      "keep_top_p",
      [](const Arg& logits, double p, int64_t among) {
        Call call(writerOf("keep_top_p", {&logits}));
        return call.value(keepTopP(call.tensor(logits), p, among));
      },
      "logits"_a, "p"_a, "among"_a = 0,
      "logits, with -infinity in the place of all but the smallest set along the last axis whose "
      "probabilities "
      "add up to p or more (Holtzman et al. 2019). among: how many of the largest are looked at, 0 for all.");
}

/// KvCache with the builder that it writes to.
struct Cache {
  std::shared_ptr<Writer> writer;
  std::unique_ptr<KvCache> cache;
};

void construct(Cache* self, std::shared_ptr<Writer> writer, const std::string& name, int64_t batch,
               int64_t heads, int64_t rows, int64_t width, const DTypeLike& dtype, bool ring,
               int64_t window) {
  Call call(writer);
  const KvCacheSizes sizes{batch, heads, rows, width, elementTypeOf(dtype), ring, window};
  auto cache = std::make_unique<KvCache>(call.builder(), name, sizes);
  call.raiseMistakes();
  new (self) Cache{std::move(writer), std::move(cache)};
}

Value attend(Cache& self, const Arg& q, const Arg& k, const Arg& v, const Arg& position,
             const std::optional<double>& scale) {
  Call call(self.writer);
  AttentionOptions options;
  options.scale = scale;
  return call.value(
      self.cache->attend(call.tensor(q), call.tensor(k), call.tensor(v), call.tensor(position), options));
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
  cache.def(
      "attend", attend, "q"_a, "k"_a, "v"_a, "position"_a, "scale"_a = nb::none(),
      "Causal attention of the step's tokens over the cache and themselves. q: [batch, query heads, tokens, "
      "width]; k and v: [batch, heads, tokens, width], which become rows of the cache. position: int64 of no "
      "axes, that of the first of the tokens; a text begins anew at 0. Once in a graph.");
  module.def(
      "counted_position",
      [](const std::shared_ptr<Writer>& builder, const std::string& name, int64_t tokens,
         const std::optional<Arg>& reset) {
        Call call(builder);
        const Tensor anew = reset && !reset->is_none() ? call.tensor(*reset) : Tensor();
        return call.value(countedPosition(builder->builder, name, tokens, anew));
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
  bindCaches(module);
}

} // namespace dfc::python
