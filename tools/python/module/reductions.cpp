// Reductions, running sums and orders, under NumPy's names.
#include "tools/python/module/reductions.h"
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

/// The tensor and its axis; of None all elements in one, as NumPy takes them.
struct Along {
  Tensor tensor;
  int64_t axis;
};
Along along(Tensor a, const AxesLike& axis) {
  return axis.is_none() ? Along{reshape(a, {-1}), 0} : Along{a, dimsOf(axis)[0]};
}

Tensor argMaxOf(Tensor a, const AxesLike& axis, bool keepdims) {
  const Along one = along(a, axis);
  return argMax(one.tensor, one.axis, keepdims);
}

Tensor cumSumOf(Tensor a, const AxesLike& axis, bool exclusive, bool reverse) {
  const Along one = along(a, axis);
  return cumSum(one.tensor, one.axis, {.exclusive = exclusive, .reverse = reverse});
}

} // namespace

void bindReductions(nb::module_& module) {
  forEachReduction([&](const char* name, auto function, const char* doc) {
    bindOp(module, name, function, "a"_a, "axis"_a = nb::none(), "keepdims"_a = false, doc);
  });
  bindOp(module, "argmax", argMaxOf, "a"_a, "axis"_a = nb::none(), "keepdims"_a = false,
         "The index, int64, of the first largest element along `axis` (None: of all elements). NaN counts "
         "as the largest.");
  bindOp(module, "cumsum", cumSumOf, "a"_a, "axis"_a = nb::none(), "exclusive"_a = false, "reverse"_a = false,
         "Running sums along `axis` (None: of all elements), of numbers; exclusive: without the element "
         "itself; reverse: from the end.");
  bindOp(
      module, "top_k",
      [](Operand a, int64_t k, int64_t axis, bool largest) { return topK(a, k, axis, largest); }, "a"_a,
      "k"_a, "axis"_a = -1, "largest"_a = true,
      "The k largest (or smallest) elements along `axis`, in order, and their indices, int64; of equal ones "
      "the lower index first.");
}

} // namespace dfc::python
