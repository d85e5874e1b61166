// Ops that move elements and compute nothing, as the C++ DSL has them where NumPy has no name for them. The
// package's numpy_names.py makes NumPy's forms (split by indices, pad by pairs) of these.
#include "ir/author/dsl.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/op.h"

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

void bindShapes(nb::module_& module) {
  bindOp(
      module, "reshape", [](Tensor a, const Dims& shape) { return reshape(a, shape); }, "a"_a, "shape"_a,
      "The same elements, row-major, under another shape; one dimension may be -1: the rest.");
  bindOp(
      module, "transpose", [](Tensor a, const Axes& axes) { return transpose(a, axes); }, "a"_a,
      "axes"_a = nb::none(), "Axis i of the result is axis axes[i] of a; None reverses the axes.");
  bindOp(
      module, "broadcast_to", [](Tensor a, const Dims& shape) { return broadcast(a, shape); }, "a"_a,
      "shape"_a, "a stretched to `shape`.");
  bindOp(
      module, "filled_like",
      [](Tensor a, double value, ElementType dtype) {
        return broadcast(a.builder()->scalar(dtype, value),
                         Dims(a.shape().dims().begin(), a.shape().dims().end()));
      },
      "a"_a, "value"_a, "dtype"_a, "This number everywhere, in the shape of a.");
  bindOp(
      module, "cut", [](Tensor a, int64_t axis, const std::string& devices) { return cut(a, axis, devices); },
      "a"_a, "axis"_a, "devices"_a,
      "a itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` "
      "names "
      "('gpu*'). The other ops follow as costs have it. On a machine with one device nothing is cut.");
  bindOp(
      module, "stop_gradient", [](Tensor a) { return stopGradient(a); }, "a"_a,
      "a itself, and a constant to `gradients`: no gradient passes through it. Parameters that a loss "
      "depends on only through it are not trained. Of any element type; it costs nothing.");
}

void bindParts(nb::module_& module) {
  bindOp(
      module, "concatenate", [](const Tensors& parts, int64_t axis) { return concat(parts, axis); },
      "arrays"_a, "axis"_a = 0, "One behind the other along `axis`; the other dimensions agree.");
  bindOp(
      module, "split_sizes", [](Tensor a, const Dims& sizes, int64_t axis) { return split(a, sizes, axis); },
      "a"_a, "sizes"_a, "axis"_a = 0,
      "The parts of a along `axis`, one for each size; the sizes add up to the dimension.");
  bindOp(
      module, "slice",
      [](Tensor a, const Dims& starts, const Dims& ends, const Axes& strides) {
        return slice(a, starts, ends, strides);
      },
      "a"_a, "starts"_a, "ends"_a, "strides"_a = nb::none(),
      "Elements starts, starts + strides, … below ends, on every axis; strides left out are 1. a[i:j] is "
      "shorter.");
  bindOp(
      module, "pad_edges",
      [](Tensor a, const Dims& low, const Dims& high, const Axes& interior, double value) {
        return pad(a, low, high, interior, value);
      },
      "a"_a, "low"_a, "high"_a, "interior"_a = nb::none(), "value"_a = 0.0,
      "`value` before, after and between (interior) the elements of every axis.");
  bindOp(
      module, "tile_axes", [](Tensor a, const Dims& repeats) { return tile(a, repeats); }, "a"_a, "repeats"_a,
      "a repeated along each of its axes.");
}

void bindIndices(nb::module_& module) {
  bindOp(
      module, "gather", [](Tensor a, Tensor indices, int64_t axis) { return gather(a, indices, axis); },
      "a"_a, "indices"_a, "axis"_a = 0,
      "The slices of a along `axis` that `indices` (int32 or int64, any shape) name; below 0 they count from "
      "the end, out of range they give NaN, or 0 for integers.");
  bindOp(
      module, "scatter_add",
      [](Tensor a, Tensor indices, Tensor updates, int64_t axis) {
        return scatterAdd(a, indices, updates, axis);
      },
      "a"_a, "indices"_a, "updates"_a, "axis"_a = 0,
      "a with every slice of `updates` added to the slice along `axis` that its index names, in the updates' "
      "order.");
  bindOp(
      module, "one_hot",
      [](Tensor indices, int64_t depth, int64_t axis, ElementType dtype) {
        return oneHot(indices, depth, axis, dtype);
      },
      "indices"_a, "depth"_a, "axis"_a = -1, "dtype"_a = ElementType::F32,
      "1 where the index along the new axis is the one named, else 0. indices: int32 or int64.");
  const auto triangle = [&](const char* name, bool upper, const char* doc) {
    bindOp(
        module, name, [upper](Tensor a, int64_t k) { return trilu(a, k, upper); }, "a"_a, "k"_a = 0, doc);
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
