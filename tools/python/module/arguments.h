// What functions of the module take, as Python says it: kinds of object by the name that stands in a
// signature, and what they mean in C++.
#pragma once

#include "ir/graph/initialiser.h"
#include "ir/graph/op_options.h"
#include "ir/graph/tensor_type.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace dfc::python {

/// Any object: what it means is decided where it is read.
inline bool anyObject(PyObject* /*object*/) { return true; }

/// An operand of an op: a tensor, a number, or an array, which becomes a constant.
class Arg : public nanobind::object {
  NB_OBJECT_DEFAULT(Arg, object, "dfc._core.Tensor | numpy.typing.ArrayLike", anyObject)
};
/// One axis, several, or None, by a default.
class AxesLike : public nanobind::object {
  NB_OBJECT_DEFAULT(AxesLike, object, "int | collections.abc.Sequence[int]", anyObject)
};
/// Whole numbers: a shape, strides, a permutation.
class DimsLike : public nanobind::object {
  NB_OBJECT_DEFAULT(DimsLike, object, "int | collections.abc.Sequence[int]", anyObject)
};
/// An element type: DType, a name, or another library's.
class DTypeLike : public nanobind::object {
  NB_OBJECT_DEFAULT(DTypeLike, object, "dfc._core.DType | numpy.typing.DTypeLike", anyObject)
};
/// What is fed: an array of any library that speaks DLPack, lists, numbers.
class ArrayLike : public nanobind::object {
  NB_OBJECT_DEFAULT(ArrayLike, object, "numpy.typing.ArrayLike", anyObject)
};
/// Arrays by name.
class FeedsLike : public nanobind::object {
  NB_OBJECT_DEFAULT(FeedsLike, object, "collections.abc.Mapping[str, numpy.typing.ArrayLike]", anyObject)
};
/// The form of results.
class FormLike : public nanobind::object {
  NB_OBJECT_DEFAULT(FormLike, object, "str", anyObject)
};
/// How a parameter starts.
class InitLike : public nanobind::object {
  NB_OBJECT_DEFAULT(InitLike, object, "dfc._core.Initialiser | float", anyObject)
};
/// Several names, or one.
class NamesLike : public nanobind::object {
  NB_OBJECT_DEFAULT(NamesLike, object, "str | collections.abc.Sequence[str]", anyObject)
};
/// A file's path.
class PathLike : public nanobind::object {
  NB_OBJECT_DEFAULT(PathLike, object, "str | os.PathLike[str]", anyObject)
};

/// Whole numbers, as `operator.index` gives them. Raises TypeError otherwise.
Dims dimsOf(nanobind::handle object);
/// The same of None: none.
Dims axesOf(nanobind::handle object);
/// Raises TypeError with the types that there are.
ElementType elementTypeOf(nanobind::handle object);
/// Of more than 8 axes, or with a negative one, the shape is ill-formed, which the op refuses.
TensorType typeOf(nanobind::handle shape, nanobind::handle element);
TensorType typeOf(const Dims& shape, ElementType element);
/// `argument` is named where it is something else, as a TypeError.
std::vector<std::string> namesOf(const NamesLike& given, const char* argument);
std::string pathOf(nanobind::handle object);
std::string textOf(nanobind::handle object); ///< as `str` gives it
nanobind::tuple tupleOf(const Shape& shape);

/// None: zeros; a number: that everywhere.
Initialiser initialiserOf(const InitLike& given);
/// "ieee", "tf32", "bf16" or "f16"; None: unstated. Raises ValueError with these otherwise.
Precision precisionOf(nanobind::handle object);

/// DType and its members.
void bindElementTypes(nanobind::module_& module);

} // namespace dfc::python
