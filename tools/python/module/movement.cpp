// Ops that move elements and compute nothing, as the C++ DSL has them where NumPy has no name for them. The
// package's numpy_names.py makes NumPy's forms (split by indices, pad by pairs) of these.
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/values.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

void bindShapes(nb::module_& module) {
  module.def(
      "reshape",
      [](const Arg& a, const DimsLike& shape) {
        Call call(writerOf("reshape", {&a}));
        return call.value(reshape(call.tensor(a), dimsOf(shape)));
      },
      "a"_a, "shape"_a,
      "The same elements, row-major, under another shape; one dimension may be -1: the rest.");
  module.def(
      "transpose",
      [](const Arg& a, const AxesLike& axes) {
        Call call(writerOf("transpose", {&a}));
        return call.value(transpose(call.tensor(a), axesOf(axes)));
      },
      "a"_a, "axes"_a = nb::none(), "Axis i of the result is axis axes[i] of a; None reverses the axes.");
  module.def(
      "broadcast_to",
      [](const Arg& a, const DimsLike& shape) {
        Call call(writerOf("broadcast_to", {&a}));
        return call.value(broadcast(call.tensor(a), dimsOf(shape)));
      },
      "a"_a, "shape"_a, "a stretched to `shape`.");
  module.def(
      "cut",
      [](const Arg& a, int64_t axis, const std::string& devices) {
        Call call(writerOf("cut", {&a}));
        return call.value(cut(call.tensor(a), axis, devices));
      },
      "a"_a, "axis"_a, "devices"_a,
      "a itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` "
      "names "
      "('gpu*'). The other ops follow as costs have it. On a machine with one device nothing is cut.");
}

void bindParts(nb::module_& module) {
  module.def(
      "concatenate",
      [](const std::vector<Arg>& parts, int64_t axis) {
        Call call(writerOf("concatenate", parts));
        return call.value(concat(call.tensors(parts), axis));
      },
      "arrays"_a, "axis"_a = 0, "One behind the other along `axis`; the other dimensions agree.");
  module.def(
      "split_sizes",
      [](const Arg& a, const DimsLike& sizes, int64_t axis) {
        Call call(writerOf("split_sizes", {&a}));
        return call.values(split(call.tensor(a), dimsOf(sizes), axis));
      },
      "a"_a, "sizes"_a, "axis"_a = 0,
      "The parts of a along `axis`, one for each size; the sizes add up to the dimension.");
  module.def(
      "slice",
      [](const Arg& a, const DimsLike& starts, const DimsLike& ends, const AxesLike& strides) {
        Call call(writerOf("slice", {&a}));
        return call.value(slice(call.tensor(a), dimsOf(starts), dimsOf(ends), axesOf(strides)));
      },
      "a"_a, "starts"_a, "ends"_a, "strides"_a = nb::none(),
      "Elements starts, starts + strides, … below ends, on every axis; strides left out are 1. a[i:j] is "
      "shorter.");
  module.def(
      "pad_edges",
      [](const Arg& a, const DimsLike& low, const DimsLike& high, const AxesLike& interior, double value) {
        Call call(writerOf("pad_edges", {&a}));
        return call.value(pad(call.tensor(a), dimsOf(low), dimsOf(high), axesOf(interior), value));
      },
      "a"_a, "low"_a, "high"_a, "interior"_a = nb::none(), "value"_a = 0.0,
      "`value` before, after and between (interior) the elements of every axis.");
  module.def(
      "tile_axes",
      [](const Arg& a, const DimsLike& repeats) {
        Call call(writerOf("tile_axes", {&a}));
        return call.value(tile(call.tensor(a), dimsOf(repeats)));
      },
      "a"_a, "repeats"_a, "a repeated along each of its axes.");
}

void bindIndices(nb::module_& module) {
  module.def(
      "gather",
      [](const Arg& a, const Arg& indices, int64_t axis) {
        Call call(writerOf("gather", {&a, &indices}));
        return call.value(gather(call.tensor(a), call.tensor(indices), axis));
      },
      "a"_a, "indices"_a, "axis"_a = 0,
      "The slices of a along `axis` that `indices` (int32 or int64, any shape) name; below 0 they count from "
      "the end, out of range they give NaN, or 0 for integers.");
  module.def(
      "scatter_add",
      [](const Arg& a, const Arg& indices, const Arg& updates, int64_t axis) {
        Call call(writerOf("scatter_add", {&a, &indices, &updates}));
        return call.value(scatterAdd(call.tensor(a), call.tensor(indices), call.tensor(updates), axis));
      },
      "a"_a, "indices"_a, "updates"_a, "axis"_a = 0,
      "a with every slice of `updates` added to the slice along `axis` that its index names, in the updates' "
      "order.");
  module.def(
      "one_hot",
      [](const Arg& indices, int64_t depth, int64_t axis, const DTypeLike& dtype) {
        Call call(writerOf("one_hot", {&indices}));
        return call.value(oneHot(call.tensor(indices), depth, axis, elementTypeOf(dtype)));
      },
      "indices"_a, "depth"_a, "axis"_a = -1, "dtype"_a = ElementType::F32,
      "1 where the index along the new axis is the one named, else 0. indices: int32 or int64.");
  const auto triangle = [&](const char* name, bool upper, const char* doc) {
    module.def(
        name,
        [name, upper](const Arg& a, int64_t k) {
          Call call(writerOf(name, {&a}));
          return call.value(trilu(call.tensor(a), k, upper));
        },
        "a"_a, "k"_a = 0, doc);
  };
  triangle("triu", true, "Of each matrix the part on and above the k-th diagonal; zeros elsewhere.");
  triangle("tril", false, "Of each matrix the part on and below the k-th diagonal; zeros elsewhere.");
}

} // namespace

void bindMovement(nb::module_& module) {
  bindShapes(module);
  bindParts(module);
  bindIndices(module);
}

} // namespace dfc::python
