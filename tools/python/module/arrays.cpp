// NumPy's arrays come by the buffer protocol, which is quick, all others by DLPack. They go out as NumPy's
// own over an object with the bytes, which is quicker than DLPack, too: each step makes some.
#include "tools/python/module/arrays.h"

#include "tools/python/module/arguments.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

/// Elements somewhere on the host; strides in bytes.
struct Elements {
  TensorType type;
  const std::byte* data = nullptr;
  Dims strides;
};

bool isDense(const Elements& elements) {
  int64_t expected = byteWidth(elements.type.element);
  for (size_t axis = elements.type.shape.rank(); axis-- > 0;) {
    if (elements.type.shape[axis] != 1 && elements.strides[axis] != expected) {
      return false;
    }
    expected *= elements.type.shape[axis];
  }
  return true;
}

bool isAligned(const std::byte* data) { return reinterpret_cast<uintptr_t>(data) % 64 == 0; }

void copyStrided(const Elements& from, size_t axis, const std::byte* source, std::byte*& to) {
  const size_t width = static_cast<size_t>(byteWidth(from.type.element));
  if (axis == from.type.shape.rank()) {
    std::memcpy(to, source, width);
    to += width;
    return;
  }
  for (int64_t i = 0; i < from.type.shape[axis]; ++i) {
    copyStrided(from, axis + 1, source + i * from.strides[axis], to);
  }
}

Literal copyOf(const Elements& from) {
  Literal copy(from.type);
  std::byte* to = copy.mutableBytes().data();
  if (from.type.shape.elements() == 0) {
    return copy;
  }
  if (isDense(from)) {
    std::memcpy(to, from.data, static_cast<size_t>(from.type.bytes()));
  } else {
    copyStrided(from, 0, from.data, to);
  }
  return copy;
}

/// `owner` keeps the bytes alive; it goes with the last literal, on whatever thread.
template <class Owner>
Literal made(const Elements& from, Sharing sharing, std::shared_ptr<Owner> owner) {
  if (sharing == Sharing::Copied || !isDense(from) || !isAligned(from.data)) {
    return copyOf(from);
  }
  auto* bytes = const_cast<std::byte*>(from.data); // a literal that is written detaches first
  return Literal(from.type, std::shared_ptr<std::byte>(bytes, [owner](std::byte*) mutable {
                   if (Py_IsInitialized() != 0) {
                     const nb::gil_scoped_acquire lock;
                     owner.reset();
                   }
                 }));
}

[[noreturn]] void refuse(const char* what, const std::string& why) {
  throw nb::type_error(fmt::format("{}: {}", what, why).c_str());
}

Shape checkedShape(const Dims& dims, const char* what) {
  if (!Shape::valid(dims)) {
    refuse(what,
           fmt::format("an array of {} axes: dfc has tensors of at most {}", dims.size(), Shape::maxRank));
  }
  return Shape(std::span<const int64_t>(dims));
}

// --- NumPy, by the buffer protocol.

struct Buffer {
  Py_buffer view{};
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view); }
};

std::optional<ElementType> elementOfFormat(const Py_buffer& view) {
  std::string_view format = view.format != nullptr ? view.format : "B";
  if (!format.empty() && (format[0] == '<' || format[0] == '=' || format[0] == '@')) {
    format.remove_prefix(1);
  }
  if (format == "f") return ElementType::F32;
  if (format == "d") return ElementType::F64;
  if (format == "e") return ElementType::F16;
  if (format == "B") return ElementType::U8;
  if (format == "?") return ElementType::Bool;
  if (format == "i" || format == "l" || format == "q") {
    return view.itemsize == 8 ? ElementType::I64 : ElementType::I32;
  }
  return std::nullopt;
}

/// bfloat16 has no code in the buffer protocol: such an array is read as 16-bit integers.
std::optional<ElementType> readBuffer(nb::handle array, Buffer& buffer, const char* what) {
  constexpr int flags = PyBUF_STRIDES | PyBUF_FORMAT;
  if (PyObject_GetBuffer(array.ptr(), &buffer.view, flags) == 0) {
    return elementOfFormat(buffer.view);
  }
  const nb::python_error refused;
  if (textOf(nb::object(array.attr("dtype"))) != "bfloat16") {
    return std::nullopt;
  }
  if (PyObject_GetBuffer(nb::object(array.attr("view")("uint16")).ptr(), &buffer.view, flags) != 0) {
    refuse(what, refused.what());
  }
  return ElementType::BF16;
}

Literal literalOfNumpy(nb::handle array, Sharing sharing, const char* what) {
  auto buffer = std::make_shared<Buffer>();
  const auto element = readBuffer(array, *buffer, what);
  if (!element) {
    refuse(what, fmt::format("dfc has no elements like those of dtype {}; convert them with .astype",
                             textOf(nb::object(array.attr("dtype")))));
  }
  const Py_buffer& view = buffer->view;
  Elements from{{*element, checkedShape(Dims(view.shape, view.shape + view.ndim), what)},
                static_cast<const std::byte*>(view.buf),
                Dims(view.strides, view.strides + view.ndim)};
  return made(from, sharing, std::move(buffer));
}

// --- DLPack.

using AnyArray = nb::ndarray<nb::ro>;

std::optional<ElementType> elementOf(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  if (type.lanes != 1) {
    return std::nullopt;
  }
  switch (static_cast<Code>(type.code)) {
  case Code::Float:
    return type.bits == 32   ? std::optional(ElementType::F32)
           : type.bits == 64 ? std::optional(ElementType::F64)
           : type.bits == 16 ? std::optional(ElementType::F16)
                             : std::nullopt;
  case Code::Bfloat: return ElementType::BF16;
  case Code::Int:
    return type.bits == 32   ? std::optional(ElementType::I32)
           : type.bits == 64 ? std::optional(ElementType::I64)
                             : std::nullopt;
  case Code::UInt: return type.bits == 8 ? std::optional(ElementType::U8) : std::nullopt;
  case Code::Bool: return ElementType::Bool;
  default: return std::nullopt;
  }
}

Literal literalOfDlpack(nb::handle object, Sharing sharing, const char* what) {
  const auto device = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
  if (device.first != nb::device::cpu::value) {
    refuse(what, fmt::format("an array on device {} of DLPack's type {}: a session reads feeds from host "
                             "memory; copy it there first (.cpu() of PyTorch, jax.device_get)",
                             device.second, device.first));
  }
  auto array = std::make_shared<AnyArray>(nb::cast<AnyArray>(object));
  const auto element = elementOf(array->dtype());
  if (!element) {
    refuse(what, fmt::format("dfc has no elements like those of {}; convert them first",
                             textOf(nb::object(object.attr("dtype")))));
  }
  Dims dims, strides;
  for (size_t axis = 0; axis < array->ndim(); ++axis) {
    dims.push_back(static_cast<int64_t>(array->shape(axis)));
    strides.push_back(array->stride(axis) * byteWidth(*element));
  }
  const Elements from{
      {*element, checkedShape(dims, what)}, static_cast<const std::byte*>(array->data()), std::move(strides)};
  return made(from, sharing, std::move(array));
}

// --- Out.

nb::dlpack::dtype dlpackType(ElementType type) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<uint8_t>(8 * byteWidth(type));
  const Code code = type == ElementType::BF16   ? Code::Bfloat
                    : isFloat(type)             ? Code::Float
                    : type == ElementType::Bool ? Code::Bool
                    : type == ElementType::U8   ? Code::UInt
                                                : Code::Int;
  return {static_cast<uint8_t>(code), bits, 1};
}

/// A view of the bytes in the form of `Framework`, which keeps them alive.
template <class Framework>
nb::object viewOf(Literal literal, nb::dlpack::dtype type) {
  auto* kept = new Literal(std::move(literal));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Literal*>(p); });
  std::array<size_t, Shape::maxRank> dims{};
  const Shape& shape = kept->type().shape;
  std::copy(shape.dims().begin(), shape.dims().end(), dims.begin());
  return nb::cast(nb::ndarray<Framework>(kept->mutableBytes().data(), shape.rank(), dims.data(), owner,
                                         nullptr, type, nb::device::cpu::value));
}

/// Bytes that NumPy's arrays lie over, and keep.
struct Bytes {
  Literal literal;
  bool readOnly = false;
};

int getBytes(PyObject* self, Py_buffer* view, int flags) noexcept {
  auto& [literal, readOnly] = *nb::inst_ptr<Bytes>(self);
  auto* data = readOnly ? const_cast<std::byte*>(literal.bytes().data()) : literal.mutableBytes().data();
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(literal.bytes().size()),
                           readOnly ? 1 : 0, flags);
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

nb::object numpyOver(Bytes bytes) {
  static const nb::handle array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  const TensorType type = bytes.literal.type();
  return array(tupleOf(type.shape), numpyTypeOf(type.element), nb::cast(std::move(bytes)));
}

nb::object dlpackOf(const Literal& self, nb::kwargs arguments) {
  return viewOf<nb::array_api>(self, dlpackType(self.type().element)).attr("__dlpack__")(**arguments);
}

nb::object asArray(const Literal& self, nb::handle type, nb::handle copy) {
  const nb::object array = numpyOf(self);
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool copied = !copy.is_none() && nb::cast<bool>(copy);
  return copied ? numpy.attr("array")(array, "dtype"_a = type)
                : numpy.attr("asarray")(array, "dtype"_a = type);
}

} // namespace

Literal literalOf(nb::handle object, Sharing sharing, std::optional<ElementType> wanted, const char* what) {
  static const nb::handle numpyArray = nb::object(nb::module_::import_("numpy").attr("ndarray")).release();
  if (PyObject_TypeCheck(object.ptr(), reinterpret_cast<PyTypeObject*>(numpyArray.ptr())) != 0) {
    return literalOfNumpy(object, sharing, what);
  }
  if (nb::isinstance<Literal>(object)) {
    return nb::cast<Literal>(object);
  }
  if (nb::hasattr(object, "__dlpack_device__")) {
    return literalOfDlpack(object, sharing, what);
  }
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool isNumber = nb::isinstance<nb::float_>(object) || nb::isinstance<nb::int_>(object) ||
                        nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object);
  nb::object type = nb::none();
  if (wanted && isNumber && *wanted != ElementType::BF16) {
    type = nb::cast(*wanted).attr("numpy");
  } else if (wanted && isNumber) {
    type = nb::module_::import_("ml_dtypes").attr("bfloat16");
  }
  return literalOfNumpy(numpy.attr("asarray")(object, "dtype"_a = type), Sharing::Copied, what);
}

nb::object numpyOf(Literal literal) { return numpyOver({std::move(literal), false}); }
nb::object readOnlyNumpyOf(Literal literal) { return numpyOver({std::move(literal), true}); }

void checkForm(const std::string& form) {
  if (form != "numpy" && form != "dfc" && form != "torch" && form != "jax") {
    throw nb::value_error(
        fmt::format("arrays='{}' is none of 'numpy', 'dfc', 'torch' and 'jax'", form).c_str());
  }
}

nb::object arrayAs(Literal literal, const std::string& form) {
  if (form == "numpy") {
    return numpyOf(std::move(literal));
  }
  nb::object array = nb::cast(std::move(literal));
  if (form == "torch") {
    return nb::module_::import_("torch").attr("from_dlpack")(array);
  }
  return form == "jax" ? nb::module_::import_("jax.numpy").attr("from_dlpack")(array) : array;
}

NamedLiterals literalsOf(nb::handle arrays, Sharing sharing) {
  NamedLiterals named;
  for (const nb::handle name : arrays) {
    std::string text = nb::cast<std::string>(name);
    Literal literal = literalOf(arrays[name], sharing, std::nullopt, text.c_str());
    named.emplace(std::move(text), std::move(literal));
  }
  return named;
}

nb::dict dictOf(NamedLiterals literals, const std::string& form) {
  nb::dict dict;
  for (auto& [name, literal] : literals) {
    dict[name.c_str()] = arrayAs(std::move(literal), form);
  }
  return dict;
}

void bindArrays(nb::module_& module) {
  static std::array slots{PyType_Slot{Py_bf_getbuffer, reinterpret_cast<void*>(&getBytes)},
                          PyType_Slot{0, nullptr}};
  nb::class_<Bytes>(module, "_Bytes", nb::type_slots(slots.data()), "What a NumPy array of a literal keeps.");
  nb::class_<Literal> array(
      module, "Array",
      "A tensor of known contents in host memory, 64-byte aligned, row-major. NumPy reads it by `numpy()` or "
      "`np.asarray`, PyTorch and JAX by their `from_dlpack`; all of them without a copy.");
  array.def(
      "__init__",
      [](Literal* self, const ArrayLike& value, const nb::object& dtype) {
        const auto wanted = dtype.is_none() ? std::nullopt : std::optional(elementTypeOf(dtype));
        new (self) Literal(literalOf(value, Sharing::Copied, wanted, "Array"));
      },
      "value"_a, "dtype"_a = nb::none(), "A copy of `value`, which feeds sessions without another.");
  array.def_static(
      "zeros", [](const DimsLike& shape, const DTypeLike& dtype) { return Literal(typeOf(shape, dtype)); },
      "shape"_a, "dtype"_a = ElementType::F32, "Of zeros.");
  array.def_prop_ro(
      "shape", [](const Literal& self) { return tupleOf(self.type().shape); }, "Dimensions.");
  array.def_prop_ro(
      "dtype", [](const Literal& self) { return self.type().element; }, "Element type.");
  array.def_prop_ro(
      "ndim", [](const Literal& self) { return self.type().shape.rank(); }, "How many axes.");
  array.def_prop_ro(
      "size", [](const Literal& self) { return self.type().shape.elements(); }, "How many elements.");
  array.def_prop_ro(
      "nbytes", [](const Literal& self) { return self.type().bytes(); }, "Bytes of all elements.");
  array.def(
      "numpy", [](const Literal& self) { return numpyOf(self); },
      "As a NumPy array. bfloat16 needs the package ml_dtypes (ImportError without it).");
  array.def(
      "item", [](const Literal& self) { return nb::object(numpyOf(self).attr("item")()); },
      "The only element, as a number of Python.");
  array.def(
      "tolist", [](const Literal& self) { return nb::object(numpyOf(self).attr("tolist")()); },
      "Nested lists of numbers of Python.");
  array.def("__float__", [](const Literal& self) { return self.at(0); });
  array.def("__len__", [](const Literal& self) { return self.type().shape[0]; });
  array.def(
      "__getitem__",
      [](const Literal& self, const nb::object& index) { return nb::object(numpyOf(self)[index]); },
      "index"_a);
  array.def("__array__", asArray, "dtype"_a = nb::none(), nb::kw_only(), "copy"_a = nb::none());
  array.def("__dlpack__", dlpackOf, "kwargs"_a);
  array.def(
      "__dlpack_device__", [](const Literal&) { return nb::make_tuple(1, 0); },
      "(1, 0): the host's memory, in DLPack's numbers.");
  array.def(
      "__eq__", [](const Literal& self, const Literal& other) { return self == other; }, "other"_a,
      "The same type and the same bits of every element.");
  array.def("__repr__", [](const Literal& self) {
    return fmt::format("dfc.Array({}, {})", textOf(numpyOf(self)), toString(self.type()));
  });
}

} // namespace dfc::python
