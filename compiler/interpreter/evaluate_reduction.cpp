// Reductions and argMax. Sums and products of floats run in double over the elements in row-major order and
// round once.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/op_rules.h"

#include <cmath>

namespace dfc::evaluation {
namespace {

// A scalar that is not rounded while it grows.
struct Accumulator {
  Scalar sum;
  bool any = false;
};

int64_t wrappedSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrappedProduct(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Scalar joined(Reduction reduction, const Scalar& a, const Scalar& b) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean: return {a.type, a.real + b.real, wrappedSum(a.whole, b.whole)};
  case Reduction::Product: return {a.type, a.real * b.real, wrappedProduct(a.whole, b.whole)};
  case Reduction::Max: return larger(a, b);
  case Reduction::Min: return smaller(a, b);
  }
  DFC_UNREACHABLE("reduction");
}

void accumulate(Reduction reduction, Accumulator& into, const Scalar& element) {
  into.sum = into.any ? joined(reduction, into.sum, element) : element;
  into.any = true;
}

// Of no elements the sum is 0 and the product 1; nothing else is reduced over nothing.
Scalar total(Reduction reduction, const Accumulator& accumulator) {
  const bool one = reduction == Reduction::Product && !accumulator.any;
  return one ? Scalar{accumulator.sum.type, 1, 1} : accumulator.sum;
}

Scalar finished(Reduction reduction, const Accumulator& accumulator, ElementType type, int64_t count) {
  const Scalar all = total(reduction, accumulator);
  if (!isFloat(type)) {
    return wrapped(type, static_cast<uint64_t>(all.whole));
  }
  const double sum = all.real;
  return rounded(type, reduction == Reduction::Mean ? sum / static_cast<double>(count) : sum);
}

// The same index with 0 along `axes`: where the element is folded to, in the shape that keeps them as 1.
Index withoutAxes(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> axes) {
  Index kept(index.begin(), index.end());
  for (const int64_t axis : axes) {
    kept[static_cast<size_t>(axis)] = 0;
  }
  return kept;
}

bool beats(const Scalar& challenger, const Scalar& best) {
  if (!isFloat(best.type)) {
    return challenger.whole > best.whole;
  }
  return !std::isnan(best.real) && (std::isnan(challenger.real) || challenger.real > best.real);
}

} // namespace

Literal reduced(Reduction reduction, const Literal& operand, llvm::ArrayRef<int64_t> axes,
                const TensorType& type, int64_t count) {
  const Shape& shape = operand.type().shape;
  const Shape kept = reducedShape(shape, axes, true);
  std::vector<Accumulator> accumulators(static_cast<size_t>(kept.elements()));
  int64_t next = 0;
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> index) {
    const auto target = static_cast<size_t>(offsetOf(kept, withoutAxes(index, axes)));
    accumulate(reduction, accumulators[target], load(operand, next++));
  });
  Literal result(type);
  for (size_t i = 0; i < accumulators.size(); ++i) {
    store(
        result, static_cast<int64_t>(i),
        finished(reduction, accumulators[i], type.element, count != 0 ? count : reducedLength(shape, axes)));
  }
  return result;
}

Literal reduced(Reduction reduction, const Literal& operand, const Dims& writtenAxes, bool keepDims,
                int64_t count) {
  const Shape& shape = operand.type().shape;
  const Dims axes = *normalAxes(writtenAxes, shape.rank());
  return reduced(reduction, operand, axes, {operand.type().element, reducedShape(shape, axes, keepDims)},
                 count);
}

Literal argMax(const ops::ArgMax& op, const Literal& operand, const TensorType& type) {
  const Shape& shape = operand.type().shape;
  const size_t axis = *normalAxis(op.axis, shape.rank());
  Literal result(type);
  int64_t next = 0;
  forEachIndex(reducedShape(shape, {static_cast<int64_t>(axis)}, true), [&](llvm::ArrayRef<int64_t> at) {
    Index index(at.begin(), at.end());
    int64_t bestIndex = 0;
    Scalar best = load(operand, offsetOf(shape, index));
    for (index[axis] = 1; index[axis] < shape[axis]; ++index[axis]) {
      const Scalar element = load(operand, offsetOf(shape, index));
      if (beats(element, best)) {
        best = element;
        bestIndex = index[axis];
      }
    }
    store(result, next++, {ElementType::I64, 0, bestIndex});
  });
  return result;
}

} // namespace dfc::evaluation
