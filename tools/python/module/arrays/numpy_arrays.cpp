#include "tools/python/module/arrays/numpy_arrays.h"

#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/elements.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

PyArrayObject* arrayOf(nb::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

std::string nameOfType(PyArrayObject* array) {
  return textOf(reinterpret_cast<PyObject*>(PyArray_DESCR(array)));
}

/// bfloat16 is a type of another package, with a number of its own.
std::optional<ElementType> elementOf(PyArrayObject* array) {
  switch (PyArray_TYPE(array)) {
  case NPY_FLOAT: return ElementType::F32;
  case NPY_DOUBLE: return ElementType::F64;
  case NPY_HALF: return ElementType::F16;
  case NPY_UBYTE: return ElementType::U8;
  case NPY_BOOL: return ElementType::Bool;
  case NPY_INT:
  case NPY_LONG:
  case NPY_LONGLONG: return PyArray_ITEMSIZE(array) == 8 ? ElementType::I64 : ElementType::I32;
  default: break;
  }
  return PyArray_TYPE(array) >= NPY_USERDEF && nameOfType(array) == "bfloat16"
             ? std::optional(ElementType::BF16)
             : std::nullopt;
}

[[noreturn]] void refuseElements(PyArrayObject* array, const char* what) {
  if (PyArray_TYPE(array) == NPY_OBJECT) {
    refuse(what, "objects of Python, such as None, are no elements: give an array or a list of numbers, or "
                 "convert numbers that came as objects with .astype");
  }
  refuse(what, fmt::format("dfc has no elements like those of dtype {}; convert them with .astype",
                           nameOfType(array)));
}

/// NumPy would read what lies below the mask.
void refuseMasked(nb::handle object, const char* what) {
  const bool isPlain = PyArray_CheckExact(object.ptr()) != 0;
  if (!isPlain && nb::isinstance(object, nb::module_::import_("numpy").attr("ma").attr("MaskedArray")) &&
      PyObject_IsTrue(nb::object(object.attr("mask").attr("any")()).ptr()) == 1) {
    refuse(what, "masked elements have no values: fill them, array.filled(number)");
  }
}

/// The same numbers in this host's byte order, as a new array.
nb::object inNativeOrder(nb::handle object) {
  return nb::object(object.attr("astype")(object.attr("dtype").attr("newbyteorder")("=")));
}

/// As nb::cast(type).attr("numpy") gives it, looked up once.
nb::handle numpyTypeOf(ElementType type) {
  static std::array<nb::handle, allElementTypes.size()> known{};
  nb::handle& found = known[static_cast<size_t>(type)];
  if (!found.is_valid()) {
    found = nb::object(nb::cast(type).attr("numpy")).release();
  }
  return found;
}

/// An object of Python that keeps a literal's bytes.
struct Keeper {
  PyObject head;
  Literal literal;
};

void destroyKeeper(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  std::destroy_at(&reinterpret_cast<Keeper*>(object)->literal);
  type->tp_free(object);
  Py_DECREF(type);
}

PyTypeObject* keeperType() {
  static std::array slots{PyType_Slot{Py_tp_dealloc, reinterpret_cast<void*>(&destroyKeeper)},
                          PyType_Slot{0, nullptr}};
  static PyType_Spec spec{"dfc._core._Keeper", sizeof(Keeper), 0, Py_TPFLAGS_DEFAULT, slots.data()};
  static PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) {
    throw nb::python_error();
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

nb::object keeperOf(Literal literal) {
  nb::object object = nb::steal(keeperType()->tp_alloc(keeperType(), 0));
  if (!object.is_valid()) {
    throw nb::python_error();
  }
  std::construct_at(&reinterpret_cast<Keeper*>(object.ptr())->literal, std::move(literal));
  return object;
}

} // namespace

void importNumpy() {
  if (_import_array() < 0) {
    throw nb::python_error();
  }
}

bool isNumpy(nb::handle object) { return PyArray_Check(object.ptr()); }

Literal literalOfNumpy(nb::handle object, Sharing sharing, const char* what) {
  PyArrayObject* array = arrayOf(object);
  refuseMasked(object, what);
  if (!PyArray_ISNOTSWAPPED(array)) {
    return literalOfNumpy(inNativeOrder(object), Sharing::Copied, what);
  }
  const auto element = elementOf(array);
  if (!element) {
    refuseElements(array, what);
  }
  const auto rank = static_cast<size_t>(PyArray_NDIM(array));
  Elements from{{*element, checkedShape({PyArray_DIMS(array), rank}, what)},
                static_cast<const std::byte*>(PyArray_DATA(array))};
  std::copy_n(PyArray_STRIDES(array), rank, from.strides.begin());
  return literalOver(from, sharing, nb::borrow(object));
}

nb::object numpyOver(Literal literal, Access access) {
  const TensorType type = literal.type();
  std::array<npy_intp, Shape::maxRank> dims{};
  std::copy(type.shape.dims().begin(), type.shape.dims().end(), dims.begin());
  auto* bytes = const_cast<std::byte*>(literal.bytes().data());
  nb::object keeper = keeperOf(std::move(literal));
  auto* numpyType = reinterpret_cast<PyArray_Descr*>(numpyTypeOf(type.element).inc_ref().ptr());
  nb::object array = nb::steal(PyArray_NewFromDescr(
      &PyArray_Type, numpyType, static_cast<int>(type.shape.rank()), dims.data(), nullptr, bytes,
      access == Access::Writable ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO, nullptr));
  if (!array.is_valid() || PyArray_SetBaseObject(arrayOf(array), keeper.release().ptr()) < 0) {
    throw nb::python_error();
  }
  return array;
}

} // namespace dfc::python
