// Tensor: what NumPy's arrays have as properties, operators and methods, of a value that is not computed yet.
#include "ir/author/dsl.h"
#include "ir/graph/graph.h"
#include "tools/python/module/bindings.h"
#include "tools/python/module/indexing.h"
#include "tools/python/module/op.h"
#include "tools/python/module/package_methods.h"
#include "tools/python/module/reductions.h"

#include <fmt/format.h>
#include <nanobind/stl/string_view.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;
using TensorClass = nb::class_<Value>;

/// `name` and its reflection; a type that the operation does not know is left to the other operand.
template <class Function>
void operation(TensorClass& tensor, const char* name, const char* reflected, Function function,
               const char* doc) {
  bindMethod(
      tensor, name, [function](Operand self, Numeric other) { return function(self, other); }, "other"_a,
      doc);
  if (reflected != nullptr) {
    bindMethod(
        tensor, reflected, [function](Operand self, Numeric other) { return function(other, self); },
        "other"_a);
  }
}

template <class Function>
void unary(TensorClass& tensor, const char* name, Function function, const char* doc) {
  bindMethod(
      tensor, name, [function](Operand self) { return function(self); }, doc);
}

void comparison(TensorClass& tensor, const char* name, Direction direction, const char* doc) {
  operation(
      tensor, name, nullptr,
      [direction](const Operand& a, const Operand& b) { return compare(a, b, direction); }, doc);
}

void bindOperators(TensorClass& tensor) {
  using O = const Operand&;
  operation(
      tensor, "__add__", "__radd__", [](O a, O b) { return a + b; }, "Sum, with broadcasting.");
  operation(
      tensor, "__sub__", "__rsub__", [](O a, O b) { return a - b; }, "Difference, with broadcasting.");
  operation(
      tensor, "__mul__", "__rmul__", [](O a, O b) { return a * b; },
      "Product, element by element, with broadcasting.");
  operation(
      tensor, "__truediv__", "__rtruediv__", [](O a, O b) { return a / b; },
      "Quotient, with broadcasting; of integers it truncates towards zero, and is 0 for a divisor of 0.");
  operation(
      tensor, "__pow__", "__rpow__", [](O a, O b) { return pow(a, b); },
      "Power of floats, with broadcasting; edge cases as C's pow.");
  operation(
      tensor, "__matmul__", "__rmatmul__", [](O a, O b) { return matmul(a, b); },
      "Matrix products of the last two axes: [..., m, k] @ [..., k, n] is [..., m, n]. A vector is a row "
      "before a matrix or a column behind one, and its axis goes.");
  operation(
      tensor, "__and__", "__rand__", [](O a, O b) { return a & b; }, "And, of bool or bit by bit.");
  operation(
      tensor, "__or__", "__ror__", [](O a, O b) { return a | b; }, "Or, of bool or bit by bit.");
  operation(
      tensor, "__xor__", "__rxor__", [](O a, O b) { return a ^ b; }, "Exclusive or, of bool or bit by bit.");
  comparison(tensor, "__eq__", Direction::Eq, "a == b, element by element, as bool.");
  comparison(tensor, "__ne__", Direction::Ne, "a != b, element by element, as bool.");
  comparison(tensor, "__lt__", Direction::Lt, "a < b, element by element, as bool.");
  comparison(tensor, "__le__", Direction::Le, "a <= b, element by element, as bool.");
  comparison(tensor, "__gt__", Direction::Gt, "a > b, element by element, as bool.");
  comparison(tensor, "__ge__", Direction::Ge, "a >= b, element by element, as bool.");
  unary(
      tensor, "__neg__", [](O a) { return -a; }, "Of numbers.");
  unary(
      tensor, "__invert__", [](O a) { return ~a; }, "The opposite of bool; of integers every bit turned.");
  unary(
      tensor, "__abs__", [](O a) { return abs(a); }, "Magnitude of numbers.");
}

void bindProtocols(TensorClass& tensor) {
  tensor.def("__getitem__", indexed, "index"_a.none(),
             "As NumPy's: whole numbers, slices with steps above 0, `...`, None, one tensor of indices.");
  tensor.def("__len__", [](const Value& self) {
    if (self.tensor.shape().rank() == 0) {
      throw nb::type_error("len() of a tensor of no axes");
    }
    return self.tensor.shape()[0];
  });
  tensor.def("__bool__", [](const Value&) -> bool {
    throw nb::type_error(
        "a dfc.Tensor is a value of a graph, and has no contents while the graph is written; "
        "choose between tensors with where(condition, a, b)");
  });
  tensor.def("__float__", [](const Value&) -> double {
    throw nb::type_error(
        "a dfc.Tensor has no contents while the graph is written; fetch it, and run a session");
  });
  tensor.def("__hash__",
             [](const Value& self) { return static_cast<Py_hash_t>(self.tensor.value().index() + 1); });
  tensor.def("__repr__", [](const Value& self) {
    if (!self.tensor.valid()) {
      return std::string("<dfc.Tensor after a mistake>");
    }
    const Graph& graph = self.writer->builder.graph().soFar();
    return fmt::format("<dfc.Tensor '{}' {}>", graph.nameOf(self.tensor.value()),
                       toString(self.tensor.type()));
  });
}

void bindProperties(TensorClass& tensor) {
  tensor.def_prop_ro(
      "shape", [](const Value& self) { return tupleOf(self.tensor.shape()); },
      "Dimensions. Of a tensor after a mistake eight of length 1.");
  tensor.def_prop_ro(
      "dtype", [](const Value& self) { return self.tensor.type().element; }, "Element type.");
  tensor.def_prop_ro(
      "ndim", [](const Value& self) { return self.tensor.shape().rank(); }, "How many axes.");
  tensor.def_prop_ro(
      "size", [](const Value& self) { return self.tensor.shape().elements(); }, "How many elements.");
  tensor.def_prop_ro(
      "valid", [](const Value& self) { return self.tensor.valid(); },
      "False after a mistake, which Builder.finish tells.");
  tensor.def_prop_ro(
      "name",
      [](const Value& self) {
        return self.tensor.valid()
                   ? std::string(self.writer->builder.graph().soFar().nameOf(self.tensor.value()))
                   : std::string();
      },
      "Its name in the graph.");
  tensor.def_prop_ro(
      "T",
      [](const Value& self) {
        Call call(self.writer);
        return call.value(transpose(self.tensor));
      },
      "With the axes in reverse order.");
  bindMethod(
      tensor, "named", [](Tensor self, const std::string& name) { return self.named(name); }, "name"_a,
      "Renames the value and gives it back. A name that is taken gets a suffix.");
  bindMethod(
      tensor, "on", [](Tensor self, const std::string& device) { return self.on(device); }, "device"_a,
      "Pins the op that makes it to a device ('gpu0') and gives it back.");
  bindMethod(
      tensor, "cut",
      [](Tensor self, int64_t axis, const std::string& devices) { return cut(self, axis, devices); },
      "axis"_a, "devices"_a,
      "Itself, and the wish that it be cut along `axis`, a part on each device that the glob `devices` "
      "names ('gpu*').");
}

// --- Methods of NumPy's arrays.

/// (2, 3) of `reshape(2, 3)` and of `reshape((2, 3))`.
Dims dimsOfArguments(const nb::args& arguments) {
  return arguments.size() == 1 ? axesOf(arguments[0]) : dimsOf(arguments);
}

void bindMethods(TensorClass& tensor) {
  forEachReduction([&](const char* name, auto function, const char* doc) {
    bindMethod(tensor, name, function, "axis"_a = nb::none(), "keepdims"_a = false, doc);
  });
  bindMethod(
      tensor, "astype", [](Tensor self, ElementType dtype) { return cast(self, dtype); }, "dtype"_a,
      "In another element type. Float to integer truncates and saturates, NaN gives 0.");
  bindMethod(
      tensor, "reshape",
      [](Tensor self, const nb::args& shape) { return reshape(self, dimsOfArguments(shape)); }, "shape"_a,
      "The same elements, row-major, under another shape; one dimension may be -1: the rest.");
  bindMethod(
      tensor, "transpose",
      [](Tensor self, const nb::args& axes) {
        return transpose(self, axes.size() == 0 ? Dims{} : dimsOfArguments(axes));
      },
      "axes"_a, "Axis i of the result is axis axes[i]; none given reverses the axes.");
}

} // namespace

void bindTensor(nb::module_& module) {
  TensorClass tensor(module, "Tensor",
                     "A value of a graph under construction: a shape, an element type and a name, and no "
                     "contents before a session runs. Operators and methods are NumPy's.");
  bindProperties(tensor);
  bindOperators(tensor);
  bindProtocols(tensor);
  bindMethods(tensor);
  bindPackageMethods(tensor);
}

} // namespace dfc::python
