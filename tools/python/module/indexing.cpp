// An index becomes at most three ops: a slice of every axis, a gather, and a reshape for axes that go and
// come.
#include "tools/python/module/indexing.h"

#include <fmt/format.h>

#include <optional>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// What the parts of an index come to.
struct Indexing {
  Dims starts, ends, strides;      ///< by axis of the tensor
  Dims shape;                      ///< of the result; the gathered axis keeps its length here
  std::optional<int64_t> gathered; ///< the axis of the tensor that `indices` names slices of
  int64_t gatheredInResult = 0;
  Arg indices;
};

class Parser {
 public:
  explicit Parser(const Shape& shape) : shape_(shape) {}

  Indexing parse(const nb::tuple& parts) {
    size_t used = 0;
    for (const nb::handle part : parts) {
      used += part.is_none() || isEllipsis(part) ? 0 : 1;
    }
    if (used > shape_.rank()) {
      throw nb::index_error(
          fmt::format("{} indices for a tensor of shape {}", used, toString(shape_)).c_str());
    }
    for (const nb::handle part : parts) {
      if (isEllipsis(part)) {
        whole(shape_.rank() - used);
      } else {
        one(part);
      }
    }
    whole(shape_.rank() - axis_);
    return std::move(found_);
  }

 private:
  static bool isEllipsis(nb::handle part) { return part.ptr() == Py_Ellipsis; }
  /// Arrays of NumPy say that they are indices, too.
  static bool isNumber(nb::handle part) {
    return PyIndex_Check(part.ptr()) != 0 && !PyBool_Check(part.ptr()) && !nb::hasattr(part, "__len__");
  }

  void one(nb::handle part) {
    if (part.is_none()) {
      found_.shape.push_back(1);
    } else if (PySlice_Check(part.ptr())) {
      slice(part);
    } else if (isNumber(part)) {
      number(part);
    } else {
      gather(part);
    }
  }

  void whole(size_t axes) {
    for (size_t i = 0; i < axes; ++i) {
      take(0, shape_[axis_], 1);
      found_.shape.push_back(shape_[axis_ - 1]);
    }
  }

  void take(int64_t start, int64_t end, int64_t stride) {
    found_.starts.push_back(start);
    found_.ends.push_back(end);
    found_.strides.push_back(stride);
    ++axis_;
  }

  void slice(nb::handle part) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(part.ptr(), &start, &stop, &step) != 0) {
      throw nb::python_error();
    }
    if (step < 0) {
      throw nb::value_error("a slice with a step below 0: dfc's slices go forwards");
    }
    const int64_t length = PySlice_AdjustIndices(shape_[axis_], &start, &stop, step);
    take(start, std::max(start, stop), step);
    found_.shape.push_back(length);
  }

  void number(nb::handle part) {
    const int64_t given = dimsOf(part)[0], length = shape_[axis_];
    const int64_t index = given < 0 ? given + length : given;
    if (index < 0 || index >= length) {
      throw nb::index_error(
          fmt::format("index {} of axis {} of a tensor of shape {}", given, axis_, toString(shape_)).c_str());
    }
    take(index, index + 1, 1);
  }

  void gather(nb::handle part) {
    if (found_.gathered) {
      throw nb::type_error("an index with two tensors of indices: gather by one, then by the other");
    }
    found_.gathered = static_cast<int64_t>(axis_);
    found_.gatheredInResult = static_cast<int64_t>(found_.shape.size());
    found_.indices = nb::borrow<Arg>(part);
    whole(1);
  }

  Shape shape_;
  size_t axis_ = 0;
  Indexing found_;
};

// A bool mask chooses as many elements as hold: no static shape.
void checkIndices(const Operand& indices) {
  if (indices.tensor() != nullptr && indices.tensor()->valid() &&
      indices.tensor()->type().element == ElementType::Bool) {
    throw nb::type_error("a mask as an index: how many elements it chooses is known only when the step runs; "
                         "use where(mask, a, b), or indices of i32 or i64");
  }
}

bool isWhole(const Indexing& indexing, const Shape& shape) {
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    if (indexing.starts[axis] != 0 || indexing.ends[axis] != shape[axis] || indexing.strides[axis] != 1) {
      return false;
    }
  }
  return true;
}

} // namespace

Value indexed(const Value& self, const Arg& index) {
  Call call(self.writer);
  const Shape shape = self.tensor.shape();
  const Indexing indexing =
      Parser(shape).parse(PyTuple_Check(index.ptr()) ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index));
  Tensor result = self.tensor;
  if (!isWhole(indexing, shape)) {
    result = slice(result, indexing.starts, indexing.ends, indexing.strides);
  }
  const Shape wanted{std::span<const int64_t>(indexing.shape)};
  if (result.valid() && result.shape() != wanted) {
    result = reshape(result, indexing.shape);
  }
  if (indexing.gathered) {
    const Operand indices = call.operand(indexing.indices);
    checkIndices(indices);
    result = gather(result, indices, indexing.gatheredInResult);
  }
  return call.value(result);
}

} // namespace dfc::python
