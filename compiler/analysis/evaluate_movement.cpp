// Ops that move elements: each copies bits, so that nothing is rounded and no NaN changes.
#include "compiler/analysis/evaluate_parts.h"

#include "ir/op_rules.h"

#include <cstring>

namespace dfc::evaluation {

Literal reshape(const Literal& operand, const TensorType& type) {
  Literal result(type);
  const auto bytes = operand.bytes();
  std::memcpy(result.mutableBytes().data(), bytes.data(), bytes.size());
  return result;
}

Literal transpose(const ops::Transpose& op, const Literal& operand, const TensorType& type) {
  const size_t rank = type.shape.rank();
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    Index from(rank, 0);
    for (size_t axis = 0; axis < rank; ++axis) {
      const size_t source =
          op.permutation.empty() ? rank - 1 - axis : static_cast<size_t>(op.permutation[axis]);
      from[source] = index[axis];
    }
    copyElement(result, next++, operand, offsetOf(operand.type().shape, from));
  });
  return result;
}

Literal broadcast(const Literal& operand, const TensorType& type) {
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    copyElement(result, next++, operand, offsetOf(operand.type().shape, index));
  });
  return result;
}

Literal concat(const ops::Concat& op, Operands operands, const TensorType& type) {
  const size_t axis = *normalAxis(op.axis, type.shape.rank());
  Literal result(type);
  int64_t start = 0;
  for (const Literal& operand : operands) {
    int64_t next = 0;
    forEachIndex(operand.type().shape, [&](llvm::ArrayRef<int64_t> index) {
      Index to(index.begin(), index.end());
      to[axis] += start;
      copyElement(result, offsetOf(type.shape, to), operand, next++);
    });
    start += operand.type().shape[axis];
  }
  return result;
}

Literal slice(const ops::Slice& op, const Literal& operand, const TensorType& type) {
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    Index from;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      from.push_back(op.starts[axis] + index[axis] * (op.strides.empty() ? 1 : op.strides[axis]));
    }
    copyElement(result, next++, operand, offsetOf(operand.type().shape, from));
  });
  return result;
}

Literal pad(const ops::Pad& op, const Literal& operand, const TensorType& type) {
  Literal result = filledLiteral(type, op.value);
  int64_t next = 0;
  forEachIndex(operand.type().shape, [&](llvm::ArrayRef<int64_t> index) {
    Index to;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      to.push_back(op.low[axis] + index[axis] * (op.interior.empty() ? 1 : op.interior[axis] + 1));
    }
    copyElement(result, offsetOf(type.shape, to), operand, next++);
  });
  return result;
}

} // namespace dfc::evaluation
