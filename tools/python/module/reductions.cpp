// Reductions, running sums and orders, under NumPy's names.
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <nanobind/stl/pair.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using O = const Operand&;

template <class Function>
void reduction(nb::module_& module, const char* name, Function function, const char* doc) {
  module.def(
      name,
      [name, function](const Arg& a, const AxesLike& axis, bool keepdims) {
        Call call(writerOf(name, {&a}));
        return call.value(function(call.operand(a), axesOf(axis), keepdims));
      },
      "a"_a, "axis"_a = nb::none(), "keepdims"_a = false, doc);
}

/// The tensor, and the axis of it; of None all elements in one axis, as NumPy takes them.
std::pair<Tensor, int64_t> alongAxis(Call& call, const Arg& a, const AxesLike& axis) {
  const Tensor tensor = call.tensor(a);
  return axis.is_none() ? std::pair(reshape(tensor, {-1}), int64_t(0)) : std::pair(tensor, dimsOf(axis)[0]);
}

Value argMaxOf(const Arg& a, const AxesLike& axis, bool keepdims) {
  Call call(writerOf("argmax", {&a}));
  const auto [tensor, along] = alongAxis(call, a, axis);
  return call.value(argMax(tensor, along, keepdims));
}

Value cumSumOf(const Arg& a, const AxesLike& axis, bool exclusive, bool reverse) {
  Call call(writerOf("cumsum", {&a}));
  const auto [tensor, along] = alongAxis(call, a, axis);
  return call.value(cumSum(tensor, along, {.exclusive = exclusive, .reverse = reverse}));
}

} // namespace

void bindReductions(nb::module_& module) {
  reduction(
      module, "sum", [](O a, Dims axes, bool keep) { return reduceSum(a, std::move(axes), keep); },
      "The sum over `axis` (None: all; negative ones count from the end), of numbers.");
  reduction(
      module, "mean", [](O a, Dims axes, bool keep) { return reduceMean(a, std::move(axes), keep); },
      "The mean over `axis`, of floats. An axis of length 0 is refused.");
  reduction(
      module, "max", [](O a, Dims axes, bool keep) { return reduceMax(a, std::move(axes), keep); },
      "The largest over `axis`, NaN if any is NaN. An axis of length 0 is refused.");
  reduction(
      module, "min", [](O a, Dims axes, bool keep) { return reduceMin(a, std::move(axes), keep); },
      "The smallest over `axis`, NaN if any is NaN. An axis of length 0 is refused.");
  reduction(
      module, "prod", [](O a, Dims axes, bool keep) { return reduceProduct(a, std::move(axes), keep); },
      "The product over `axis`; of no elements 1.");
  module.def(
      "argmax", argMaxOf, "a"_a, "axis"_a = nb::none(), "keepdims"_a = false,
      "The index, int64, of the first largest element along `axis` (None: of all elements). NaN counts "
      "as the largest.");
  module.def("cumsum", cumSumOf, "a"_a, "axis"_a = nb::none(), "exclusive"_a = false, "reverse"_a = false,
             "Running sums along `axis` (None: of all elements), of numbers; exclusive: without the element "
             "itself; reverse: from the end.");
  module.def(
      "top_k",
      [](const Arg& a, int64_t k, int64_t axis, bool largest) {
        Call call(writerOf("top_k", {&a}));
        const TopK found = topK(call.operand(a), k, axis, largest);
        return std::pair(call.value(found.values), call.value(found.indices));
      },
      "a"_a, "k"_a, "axis"_a = -1, "largest"_a = true,
      "The k largest (or smallest) elements along `axis`, in order, and their indices, int64; of equal ones "
      "the lower index first.");
}

} // namespace dfc::python
