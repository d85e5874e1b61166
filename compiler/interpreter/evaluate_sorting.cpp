// topK by sorting whole rows.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/op_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dfc::evaluation {
namespace {

// Whether a counts as larger than b: NaN does, of any other number.
bool isLarger(const Scalar& a, const Scalar& b) {
  if (!isFloat(a.type)) {
    return a.whole > b.whole;
  }
  return std::isnan(a.real) ? !std::isnan(b.real) : a.real > b.real;
}

} // namespace

Literals topK(const ops::TopK& op, const Literal& operand, OperandTypes types) {
  const Shape& shape = operand.type().shape;
  const size_t axis = *normalAxis(op.axis, shape.rank());
  Literals results{Literal(types[0]), Literal(types[1])};
  forEachIndex(reducedShape(shape, {static_cast<int64_t>(axis)}, true), [&](llvm::ArrayRef<int64_t> at) {
    Index index(at.begin(), at.end());
    const auto place = [&](const Shape& whole, int64_t i) {
      index[axis] = i;
      return offsetOf(whole, index);
    };
    std::vector<int64_t> order(static_cast<size_t>(shape[axis]));
    std::iota(order.begin(), order.end(), int64_t(0));
    std::stable_sort(order.begin(), order.end(), [&](int64_t left, int64_t right) {
      const Scalar a = load(operand, place(shape, left)), b = load(operand, place(shape, right));
      return op.largest ? isLarger(a, b) : isLarger(b, a);
    });
    for (int64_t i = 0; i < op.k; ++i) {
      const int64_t to = place(types[0].shape, i), from = order[static_cast<size_t>(i)];
      copyElement(results[0], to, operand, place(shape, from));
      store(results[1], to, {ElementType::I64, 0, from});
    }
  });
  return results;
}

} // namespace dfc::evaluation
