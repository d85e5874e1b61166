// Ops that go by indices: gather, scatterAdd, oneHot and iota; and running sums. An index below 0 counts from
// the end; one that is out of range even so names nothing.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/op_rules.h"

#include <limits>
#include <optional>

namespace dfc::evaluation {
namespace {

// What an index names: a place of the axis, one in another part of it, or nothing.
struct NamedPlace {
  bool inWhole = false;
  std::optional<int64_t> own;
};

// The place that element `at` of the indices names along an axis of this length.
NamedPlace placeOf(const Literal& indices, int64_t at, int64_t length, const AxisPart& part) {
  const int64_t whole = part.lengthOf(length), index = load(indices, at).whole;
  if (index < -whole || index >= whole) {
    return {};
  }
  const int64_t own = (index < 0 ? index + whole : index) - part.start;
  return {true, own >= 0 && own < length ? std::optional(own) : std::nullopt};
}

// The position in the indexed tensor of an element of the selection; `selected` is its index in the
// selection.
NamedPlace sourceOf(const Shape& tensor, size_t axis, const AxisPart& part, const Literal& indices,
                    llvm::ArrayRef<int64_t> selected) {
  const Shape& shape = indices.type().shape;
  const NamedPlace place =
      placeOf(indices, offsetOf(shape, selected.slice(axis, shape.rank())), tensor[axis], part);
  if (!place.own) {
    return place;
  }
  Index index(selected.begin(), selected.begin() + static_cast<ptrdiff_t>(axis));
  index.push_back(*place.own);
  const llvm::ArrayRef<int64_t> rest = selected.drop_front(axis + shape.rank());
  index.append(rest.begin(), rest.end());
  return {true, offsetOf(tensor, index)};
}

} // namespace

Literal gather(const ops::Gather& op, Operands operands, const TensorType& type) {
  const Shape& whole = operands[0].type().shape;
  const size_t axis = *normalAxis(op.axis, whole.rank());
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    const NamedPlace from = sourceOf(whole, axis, op.part, operands[1], index);
    if (from.own) {
      copyElement(result, next, operands[0], *from.own);
    } else if (isFloat(type.element) && !from.inWhole) {
      result.set(next, std::numeric_limits<double>::quiet_NaN());
    }
    ++next;
  });
  return result;
}

Literal scatterAdd(const ops::ScatterAdd& op, Operands operands) {
  const TensorType& type = operands[0].type();
  const size_t axis = *normalAxis(op.axis, type.shape.rank());
  std::vector<Scalar> sums;
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    sums.push_back(load(operands[0], i));
  }
  int64_t next = 0;
  forEachIndex(operands[2].type().shape, [&](llvm::ArrayRef<int64_t> index) {
    const Scalar update = load(operands[2], next++);
    if (const auto to = sourceOf(type.shape, axis, op.part, operands[1], index).own) {
      Scalar& sum = sums[static_cast<size_t>(*to)];
      sum.real += update.real;
      sum.whole =
          static_cast<int64_t>(static_cast<uint64_t>(sum.whole) + static_cast<uint64_t>(update.whole));
    }
  });
  Literal result(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    const Scalar& sum = sums[static_cast<size_t>(i)];
    store(result, i,
          isFloat(type.element) ? rounded(type.element, sum.real)
                                : wrapped(type.element, static_cast<uint64_t>(sum.whole)));
  }
  return result;
}

Literal oneHot(const ops::OneHot& op, const Literal& indices, const TensorType& type) {
  const size_t axis = *normalAxis(op.axis, type.shape.rank());
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    Index at(index.begin(), index.end());
    at.erase(at.begin() + static_cast<ptrdiff_t>(axis));
    const auto place = placeOf(indices, offsetOf(indices.type().shape, at), op.depth, op.part).own;
    result.set(next++, place == index[axis] ? 1 : 0);
  });
  return result;
}

Literal iota(const ops::Iota& op) {
  const size_t axis = *normalAxis(op.axis, op.type.shape.rank());
  Literal result(op.type);
  int64_t next = 0;
  forEachIndex(op.type.shape, [&](llvm::ArrayRef<int64_t> index) {
    store(result, next++, converted(op.type.element, {ElementType::I64, 0, op.start + index[axis]}));
  });
  return result;
}

Literal cumSum(const ops::CumSum& op, const Literal& operand) {
  const TensorType& type = operand.type();
  const size_t axis = *normalAxis(op.axis, type.shape.rank());
  const int64_t length = type.shape[axis];
  Literal result(type);
  forEachIndex(reducedShape(type.shape, {static_cast<int64_t>(axis)}, true), [&](llvm::ArrayRef<int64_t> at) {
    Index index(at.begin(), at.end());
    double real = 0;
    uint64_t whole = 0;
    for (int64_t i = 0; i < length; ++i) {
      index[axis] = op.reverse ? length - 1 - i : i;
      const int64_t place = offsetOf(type.shape, index);
      const Scalar element = load(operand, place);
      const double realBefore = real;
      const uint64_t wholeBefore = whole;
      real = i == 0 ? element.real : real + element.real;
      whole += static_cast<uint64_t>(element.whole);
      store(result, place,
            isFloat(type.element) ? rounded(type.element, op.exclusive ? realBefore : real)
                                  : wrapped(type.element, op.exclusive ? wholeBefore : whole));
    }
  });
  return result;
}

} // namespace dfc::evaluation
