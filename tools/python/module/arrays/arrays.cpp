// NumPy's arrays come and go by its own API (numpy_arrays.h), all others by DLPack.
#include "tools/python/module/arrays/arrays.h"

#include "runtime/data/convert_elements.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/arrays/elements.h"
#include "tools/python/module/arrays/numpy_arrays.h"
#include "tools/python/module/errors.h"
#include "tools/python/module/plain.h"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

using nb::literals::operator""_a;

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

/// PyTorch has tensors that are negated where they are read, which DLPack does not know.
AnyArray dlpackArray(nb::handle object, const char* what) {
  const nb::object read =
      nb::hasattr(object, "resolve_neg") ? nb::object(object.attr("resolve_neg")()) : nb::borrow(object);
  AnyArray array;
  if (!nb::try_cast(read, array)) {
    refuse(what, fmt::format("{} gives no array by DLPack: a dense array on the host is needed",
                             textOf(nb::repr(object.type()))));
  }
  return array;
}

Literal literalOfDlpack(nb::handle object, Sharing sharing, const char* what) {
  const auto device = nb::cast<std::pair<int, int>>(object.attr("__dlpack_device__")());
  if (device.first != nb::device::cpu::value) {
    refuse(what, fmt::format("an array on device {} of DLPack's type {}: a session reads feeds from host "
                             "memory; copy it there first (.cpu() of PyTorch, jax.device_get)",
                             device.second, device.first));
  }
  auto kept = std::make_unique<AnyArray>(dlpackArray(object, what));
  const AnyArray& array = *kept;
  const auto element = elementOf(array.dtype());
  if (!element) {
    refuse(what, fmt::format("dfc has no elements like those of {}; convert them first",
                             textOf(nb::object(object.attr("dtype")))));
  }
  const Shape shape = checkedShape({array.shape_ptr(), array.ndim()}, what);
  Elements from{{*element, shape}, static_cast<const std::byte*>(array.data())};
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    from.strides[axis] = array.stride(axis) * byteWidth(*element);
  }
  return literalOver(from, sharing, nb::capsule(kept.release(), [](void* owner) noexcept {
                       delete static_cast<AnyArray*>(owner);
                     }));
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

/// A view of the very bytes in the form of `Framework`, which keeps them alive.
template <class Framework>
nb::object viewOf(Literal literal, nb::dlpack::dtype type) {
  auto* kept = new Literal(std::move(literal));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Literal*>(p); });
  std::array<size_t, Shape::maxRank> dims{};
  const Shape& shape = kept->type().shape;
  std::copy(shape.dims().begin(), shape.dims().end(), dims.begin());
  auto* bytes = const_cast<std::byte*>(kept->bytes().data());
  return nb::cast(
      nb::ndarray<Framework>(bytes, shape.rank(), dims.data(), owner, nullptr, type, nb::device::cpu::value));
}

/// What leaves is a copy, which may be written: an Array keeps its values.
nb::object dlpackOf(Literal self, const nb::kwargs& arguments) {
  self.mutableBytes(); // detaches
  nb::dict others;
  for (const auto& [name, value] : arguments) {
    if (nb::cast<std::string>(name) != "copy") {
      others[name] = value;
    } else if (!value.is_none() && !nb::cast<bool>(value)) {
      throw nb::buffer_error("a dfc.Array gives copies: copy=False is not possible");
    }
  }
  const nb::dlpack::dtype type = dlpackType(self.type().element);
  return viewOf<nb::array_api>(std::move(self), type).attr("__dlpack__")(**others);
}

nb::object asArray(const Literal& self, nb::handle type, nb::handle copy) {
  const nb::object array = numpyOf(self);
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool copied = !copy.is_none() && nb::cast<bool>(copy);
  return copied ? numpy.attr("array")(array, "dtype"_a = type)
                : numpy.attr("asarray")(array, "dtype"_a = type);
}

/// What NumPy makes of lists and numbers, as elements of `type` unless that is None. NumPy's errors do not
/// say which argument they are about.
nb::object arrayOfNumbers(nb::handle object, nb::handle type, const char* what) {
  try {
    return nb::object(nb::module_::import_("numpy").attr("asarray")(object, "dtype"_a = type));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) {
      throw;
    }
    throw nb::value_error(fmt::format("{}: {}", what, textOf(error.value())).c_str());
  }
}

/// NumPy would cut them off in silence.
void refuseFractions(const nb::object& array, ElementType wanted, const char* what) {
  const bool isFloating = nb::cast<std::string>(array.attr("dtype").attr("kind")) == "f";
  if (isFloating && nb::cast<int64_t>(array.attr("size")) > 0) {
    refuse(what,
           fmt::format("numbers with fractions, where the elements are {}: round them first", name(wanted)));
  }
}

/// Python's numbers as NumPy types them; none where dfc has no such elements.
std::optional<Literal> plainNumbers(const nb::object& array, const char* what) {
  const auto type = nb::cast<std::string>(array.attr("dtype").attr("name"));
  return type == "float64" || type == "int64" ? std::optional(literalOfNumpy(array, Sharing::Copied, what))
                                              : std::nullopt;
}

/// Numbers and lists of them, of which `wanted` makes elements of its own.
Literal literalOfNumbers(nb::handle object, ElementType wanted, const char* what) {
  const nb::object plain = arrayOfNumbers(object, nb::none(), what);
  const auto numbers = plainNumbers(plain, what);
  if (isInteger(wanted)) {
    refuseFractions(plain, wanted, what);
  }
  if (numbers &&
      (firstBeyond(wanted, *numbers) || (isInteger(wanted) && convertsTo(wanted, numbers->type().element)))) {
    return *numbers;
  }
  const nb::object type = wanted == ElementType::BF16 ? nb::module_::import_("ml_dtypes").attr("bfloat16")
                                                      : nb::cast(wanted).attr("numpy");
  return literalOfNumpy(arrayOfNumbers(object, type, what), Sharing::Copied, what);
}

void putAll(nb::dict& dict, NamedLiterals literals, const std::string& form) {
  for (auto& entry : literals) {
    dict[entry.first.c_str()] = arrayAs(std::move(entry.second), form);
  }
}

} // namespace

Literal literalOf(nb::handle object, Sharing sharing, std::optional<ElementType> wanted, const char* what) {
  if (isNumpy(object)) {
    return literalOfNumpy(object, sharing, what);
  }
  if (nb::isinstance<Literal>(object)) {
    return nb::cast<Literal>(object);
  }
  if (nb::hasattr(object, "__dlpack_device__")) {
    return literalOfDlpack(object, sharing == Sharing::Lent ? Sharing::Shared : sharing, what);
  }
  const bool isNumber = nb::isinstance<nb::float_>(object) || nb::isinstance<nb::int_>(object) ||
                        nb::isinstance<nb::list>(object) || nb::isinstance<nb::tuple>(object);
  if (wanted && isNumber) {
    return literalOfNumbers(object, *wanted, what);
  }
  return literalOfNumpy(nb::module_::import_("numpy").attr("asarray")(object), Sharing::Copied, what);
}

Literal convertedLiteral(nb::handle object, Sharing sharing, ElementType wanted, const char* kind,
                         const std::string& name) {
  Literal literal = literalOf(object, sharing, wanted, name.c_str());
  const ElementType given = literal.type().element;
  return given == wanted || !convertsTo(wanted, given)
             ? literal
             : orRaise(convertedTo(wanted, literal, fmt::format("{} '{}'", kind, name))).values;
}

Literal literalAs(nb::handle object, ElementType wanted, const char* what) {
  const Literal literal = literalOf(object, Sharing::Copied, wanted, what);
  if (const ElementType given = literal.type().element; !convertsTo(wanted, given)) {
    refuse(what, fmt::format("elements of {}, not {}: {}", name(given), name(wanted),
                             conversionHint(wanted, given)));
  }
  return orRaise(convertedTo(wanted, literal, what)).values;
}

nb::object numpyOf(Literal literal) {
  literal.mutableBytes(); // detaches
  return numpyOver(std::move(literal), Access::Writable);
}

void checkForm(const std::string& form) {
  if (form != "numpy" && form != "dfc" && form != "torch" && form != "jax") {
    throw nb::value_error(
        fmt::format("arrays='{}' is none of 'numpy', 'dfc', 'torch' and 'jax'", form).c_str());
  }
}

nb::object arrayAs(Literal literal, const std::string& form) {
  if (form == "dfc") {
    return nb::cast(std::move(literal));
  }
  literal.mutableBytes(); // detaches
  return arrayOver(std::move(literal), form);
}

nb::object arrayOver(Literal literal, const std::string& form) {
  if (form == "numpy") {
    return numpyOver(std::move(literal), Access::Writable);
  }
  const nb::dlpack::dtype type = dlpackType(literal.type().element);
  if (form == "torch") {
    return nb::module_::import_("torch").attr("from_dlpack")(viewOf<nb::array_api>(std::move(literal), type));
  }
  return nb::module_::import_("jax.numpy")
      .attr("from_dlpack")(viewOf<nb::array_api>(std::move(literal), type));
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
  putAll(dict, std::move(literals), form);
  return dict;
}

nb::dict noResults() {
  static const nb::handle type = plain("Results").release(); // looked up once
  return nb::borrow<nb::dict>(type());
}

nb::dict resultsOf(NamedLiterals literals, const std::string& form) {
  nb::dict results = noResults();
  putAll(results, std::move(literals), form);
  return results;
}

void bindArrays(nb::module_& module) {
  importNumpy();
  nb::class_<Literal> array(
      module, "Array",
      "A tensor of known contents in host memory, 64-byte aligned, row-major. NumPy reads it by `numpy()` or "
      "`np.asarray`, PyTorch and JAX by their `from_dlpack`: copies, which may be written.");
  array.def(
      "__init__",
      [](Literal* self, const ArrayLike& value, const nb::object& dtype) {
        new (self) Literal(dtype.is_none() ? literalOf(value, Sharing::Copied, std::nullopt, "Array")
                                           : literalAs(value, elementTypeOf(dtype), "Array"));
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
