// Element types go by three names: dfc's ("f32"), NumPy's ("float32") and whatever another library's type
// calls itself ("torch.float32"), so that any of them may be given.
#include "tools/python/module/arguments.h"

#include "ir/graph/rules/precision.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <optional>

namespace nb = nanobind;

namespace dfc::python {
namespace {

struct NamedElement {
  ElementType type;
  const char* name; ///< NumPy's
};

constexpr std::array numpyNames = {
    NamedElement{ElementType::F32, "float32"}, NamedElement{ElementType::F64, "float64"},
    NamedElement{ElementType::F16, "float16"}, NamedElement{ElementType::BF16, "bfloat16"},
    NamedElement{ElementType::I32, "int32"},   NamedElement{ElementType::I64, "int64"},
    NamedElement{ElementType::U8, "uint8"},    NamedElement{ElementType::Bool, "bool"},
};
static_assert(numpyNames.size() == allElementTypes.size());

const char* numpyName(ElementType type) {
  return std::find_if(numpyNames.begin(), numpyNames.end(), [&](const auto& row) { return row.type == type; })
      ->name;
}

// The name that an object goes by as an element type.
std::string nameOfType(nb::handle object) {
  if (nb::isinstance<nb::str>(object)) {
    return nb::cast<std::string>(object);
  }
  for (const char* attribute : {"name", "__name__"}) { // np.dtype("float32"); np.float32, float
    if (nb::hasattr(object, attribute)) {
      return textOf(nb::object(object.attr(attribute)));
    }
  }
  const std::string text = textOf(object); // torch.float32
  return text.substr(text.rfind('.') + 1);
}

std::optional<ElementType> elementNamed(const std::string& name) {
  for (const NamedElement& row : numpyNames) {
    if (name == row.name) {
      return row.type;
    }
  }
  if (name == "bool_" || name == "float" || name == "int") { // as NumPy takes Python's types
    return name == "int" ? ElementType::I64 : name == "float" ? ElementType::F64 : ElementType::Bool;
  }
  return elementTypeNamed(name);
}

nb::object numpyType(ElementType type) {
  const bool isBf16 = type == ElementType::BF16; // which NumPy itself does not have
  const nb::module_ from = nb::module_::import_(isBf16 ? "ml_dtypes" : "numpy");
  return nb::module_::import_("numpy").attr("dtype")(
      from.attr(type == ElementType::Bool ? "bool_" : numpyName(type)));
}

int64_t indexOf(nb::handle object) {
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(fmt::format("whole numbers are needed for a shape, axes or strides, not {}{}",
                                     textOf(nb::repr(object)),
                                     object.is_none() ? "; lengths are fixed while the graph is written: "
                                                        "give the batch's, and write a graph for each"
                                                      : "")
                             .c_str());
  }
  return nb::cast<int64_t>(number);
}

} // namespace

Dims dimsOf(nb::handle object) {
  if (PyIndex_Check(object.ptr()) != 0) {
    return {indexOf(object)};
  }
  Dims dims;
  if (PyFloat_Check(object.ptr()) || nb::isinstance<nb::str>(object) || object.is_none()) {
    indexOf(object); // says what is needed
  }
  for (const nb::handle dim : object) {
    dims.push_back(indexOf(dim));
  }
  return dims;
}

Dims axesOf(nb::handle object) { return object.is_none() ? Dims{} : dimsOf(object); }

ElementType elementTypeOf(nb::handle object) {
  ElementType type{};
  if (!nb::isinstance<nb::int_>(object) && nb::try_cast(object, type)) {
    return type;
  }
  const std::string name = nameOfType(object);
  if (const auto found = elementNamed(name)) {
    return *found;
  }
  throw nb::type_error(
      fmt::format("dfc has no element type '{}': float32, float64, float16, bfloat16, int32, "
                  "int64, uint8 and bool are its types",
                  name)
          .c_str());
}

TensorType typeOf(const Dims& shape, ElementType element) {
  return {element, Shape(std::span<const int64_t>(shape))};
}
TensorType typeOf(nb::handle shape, nb::handle element) {
  return typeOf(dimsOf(shape), elementTypeOf(element));
}

std::string textOf(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) {
    throw nb::python_error();
  }
  return nb::cast<std::string>(text);
}

std::vector<std::string> namesOf(const NamesLike& given, const char* argument) {
  const auto refuse = [&] {
    throw nb::type_error(
        fmt::format("{}: a name or a list of names, not {}", argument, textOf(nb::repr(given))).c_str());
  };
  if (nb::isinstance<nb::str>(given)) {
    return {nb::cast<std::string>(given)};
  }
  if (!nb::isinstance<nb::list>(given) && !nb::isinstance<nb::tuple>(given)) {
    refuse();
  }
  std::vector<std::string> names;
  for (const nb::handle name : given) {
    if (!nb::isinstance<nb::str>(name)) {
      refuse();
    }
    names.push_back(nb::cast<std::string>(name));
  }
  return names;
}

std::string pathOf(nb::handle object) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fspath")(object));
}

nb::tuple tupleOf(const Shape& shape) {
  nb::list dims;
  for (const int64_t dim : shape.dims()) {
    dims.append(dim);
  }
  return nb::tuple(dims);
}

Precision precisionOf(nb::handle object) {
  if (object.is_none()) {
    return Precision::Unstated;
  }
  const auto word = textOf(object);
  const auto found = std::find(precisionNames.begin() + 1, precisionNames.end(), word);
  if (found == precisionNames.end()) {
    throw nb::value_error(
        fmt::format("precision '{}' is none of 'ieee', 'tf32', 'bf16' and 'f16'", word).c_str());
  }
  return static_cast<Precision>(found - precisionNames.begin());
}

void bindElementTypes(nb::module_& module) {
  nb::enum_<ElementType> type(module, "DType",
                              "The element types: floats of 32, 64 and 16 bits (IEEE 754 binary16 and "
                              "bfloat16), integers, bool.");
  for (const NamedElement& row : numpyNames) {
    type.value(row.name, row.type);
  }
  type.def_prop_ro(
      "itemsize", [](ElementType self) { return byteWidth(self); }, "Bytes of one element.");
  type.def_prop_ro(
      "short_name", [](ElementType self) { return name(self); },
      "The name in a graph file: 'f32', 'bf16', …");
  type.def_prop_ro(
      "numpy", [](ElementType self) { return numpyType(self); },
      "NumPy's dtype. That of bfloat16 is the package ml_dtypes' (ImportError without it).");
}

} // namespace dfc::python
