#include "tools/python/module/package_methods.h"

#include <fmt/format.h>

#include <array>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// A method of the name of a function, what follows `self` in its signature, and its documentation.
struct PackageMethod {
  const char* name;
  const char* function;
  const char* parameters;
  const char* doc;
};

constexpr const char* axisAndKeep = "axis: int | None = None, keepdims: bool = False";
constexpr const char* axesAndKeep =
    "axis: int | collections.abc.Sequence[int] | None = None, keepdims: bool = False";
constexpr const char* axesKeepAndDdof =
    "axis: int | collections.abc.Sequence[int] | None = None, keepdims: bool = False, *, ddof: int = 0";
constexpr const char* other = "other: Tensor | numpy.typing.ArrayLike";

constexpr std::array methods = {
    PackageMethod{"__floordiv__", "floor_divide", other,
                  "The largest whole number not above the quotient; of integers 0 for a divisor of 0."},
    PackageMethod{"__mod__", "remainder", other,
                  "What // leaves, of the divisor's sign; of integers 0 for a divisor of 0."},
    PackageMethod{"flatten", "flatten", "start_dim: int = 0, end_dim: int = -1",
                  "The axes from start_dim to end_dim in one: by default all."},
    PackageMethod{"ravel", "ravel", "", "All elements, row-major, in one axis."},
    PackageMethod{"squeeze", "squeeze", "axis: int | collections.abc.Sequence[int] | None = None",
                  "Without these axes, of length 1 (None: all of that length)."},
    PackageMethod{"swapaxes", "swapaxes", "axis1: int, axis2: int", "With two axes exchanged."},
    PackageMethod{"repeat", "repeat", "repeats: int | collections.abc.Sequence[int], axis: int | None = None",
                  "Every slice along `axis` (None: every element) so many times."},
    PackageMethod{"clip", "clip",
                  "a_min: typing.Any = None, a_max: typing.Any = None, *, min: typing.Any = None, max: "
                  "typing.Any = None",
                  "The elements between two bounds, which broadcast; None: no bound."},
    PackageMethod{"dot", "dot", "b: Tensor | numpy.typing.ArrayLike",
                  "The inner product of vectors, the product with a matrix."},
    PackageMethod{"cumsum", "cumsum", "axis: int | None = None",
                  "Running sums along `axis` (None: of all elements)."},
    PackageMethod{"argmax", "argmax", axisAndKeep, "The index, int64, of the first largest element."},
    PackageMethod{"argmin", "argmin", axisAndKeep, "The index, int64, of the first smallest element."},
    PackageMethod{"all", "all", axesAndKeep, "Whether all elements hold, which do unless they are 0."},
    PackageMethod{"any", "any", axesAndKeep, "Whether one element holds at least."},
    PackageMethod{"var", "var", axesKeepAndDdof,
                  "The mean of the squared distances from the mean over `axis` (None: all)."},
    PackageMethod{"std", "std", axesKeepAndDdof, "The root of the variance over `axis` (None: all)."},
};

nb::object package(const char* function) { return nb::module_::import_("dfc").attr(function); }

void bindReflected(nb::class_<Value>& tensor, const char* name, const char* function) {
  tensor.def(
      name,
      [function](const nb::object& self, const nb::object& left) {
        return nb::object(package(function)(left, self));
      },
      nb::arg("other"),
      nb::sig(fmt::format("def {}(self, other: numpy.typing.ArrayLike) -> Tensor", name).c_str()));
}

} // namespace

void bindPackageMethods(nb::class_<Value>& tensor) {
  for (const PackageMethod& method : methods) {
    const std::string parameters = *method.parameters == '\0' ? "" : fmt::format(", {}", method.parameters);
    tensor.def(
        method.name,
        [function = method.function](const nb::object& self, const nb::args& arguments,
                                     const nb::kwargs& options) {
          return nb::object(package(function)(self, *arguments, **options));
        },
        nb::sig(fmt::format("def {}(self{}) -> Tensor", method.name, parameters).c_str()), method.doc);
  }
  bindReflected(tensor, "__rfloordiv__", "floor_divide");
  bindReflected(tensor, "__rmod__", "remainder");
}

} // namespace dfc::python
