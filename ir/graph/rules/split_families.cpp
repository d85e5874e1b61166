#include "ir/graph/rules/split_families.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc {

SplitAxis broadcastAxis(const TensorType& operand, const Shape& shape, size_t axis) {
  const size_t missing = shape.rank() - operand.shape.rank();
  return axis < missing || operand.shape[axis - missing] != shape[axis] ? SplitAxis{}
                                                                        : alongAxis(operand, axis - missing);
}

SplitRule elementwiseSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results) {
  const Shape& shape = results.front().shape;
  SplitRule rule;
  for (size_t axis = 0; axis < shape.rank(); ++axis) {
    SplitFactor factor(SplitKind::Free, shape[axis], operands.size(), results.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      factor.operands[i] = broadcastAxis(operands[i], shape, axis);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      factor.results[i] = alongAxis(results[i], axis);
    }
    rule.add(std::move(factor));
  }
  return rule;
}

SplitRule sourceSplit(const TensorType& result) { return elementwiseSplit({}, {result}); }

SplitRule sameAxesSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                        llvm::ArrayRef<size_t> axes) {
  SplitRule rule;
  for (const size_t axis : axes) {
    SplitFactor factor(SplitKind::Free, operands[0].shape[axis], operands.size(), results.size());
    factor.operands[0] = alongAxis(operands[0], axis);
    for (size_t i = 0; i < results.size(); ++i) {
      factor.results[i] = alongAxis(results[i], axis);
    }
    rule.add(std::move(factor));
  }
  return rule;
}

SplitRule otherAxesSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                         int64_t axis) {
  const size_t rank = operands[0].shape.rank();
  const size_t uncut = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  llvm::SmallVector<size_t, 8> axes;
  for (size_t other = 0; other < rank; ++other) {
    if (other != uncut) {
      axes.push_back(other);
    }
  }
  return sameAxesSplit(operands, results, axes);
}

SplitRule reductionSplit(llvm::ArrayRef<TensorType> operands, llvm::ArrayRef<TensorType> results,
                         llvm::ArrayRef<int64_t> axes, bool keepDims, SplitKind kind) {
  const TensorType& operand = operands[0];
  SplitRule rule;
  size_t resultAxis = 0;
  for (size_t axis = 0; axis < operand.shape.rank(); ++axis) {
    const bool reduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
    SplitFactor factor(reduced ? kind : SplitKind::Free, operand.shape[axis], operands.size(),
                       results.size());
    factor.operands[0] = alongAxis(operand, axis);
    if (!reduced) {
      for (size_t i = 0; i < results.size(); ++i) {
        factor.results[i] = alongAxis(results[i], resultAxis);
      }
    }
    resultAxis += reduced && !keepDims ? 0 : 1;
    if (!reduced || kind != SplitKind::Free) {
      rule.add(std::move(factor));
    }
  }
  return rule;
}

} // namespace dfc
