// Ops that move elements: each copies bits, so that nothing is rounded and no NaN changes.
#include "compiler/interpreter/evaluate_parts.h"

#include "ir/graph/rules/op_rules.h"

#include <cstring>

namespace dfc::evaluation {

Literal reshape(const Literal& operand, const TensorType& type) {
  Literal result(type);
  const auto bytes = operand.bytes();
  std::memcpy(result.mutableBytes().data(), bytes.data(), bytes.size());
  return result;
}

Literal subview(const ops::Subview& op, const Literal& operand, const TensorType& type) {
  Literal result(type);
  const auto bytes = operand.bytes().subspan(static_cast<size_t>(op.start * byteWidth(type.element)),
                                             static_cast<size_t>(type.bytes()));
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

Literals split(const ops::Split& op, const Literal& operand, OperandTypes types) {
  const size_t axis = *normalAxis(op.axis, operand.type().shape.rank());
  Literals parts;
  int64_t start = 0;
  for (const TensorType& type : types) {
    Literal part(type);
    int64_t next = 0;
    forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
      Index from(index.begin(), index.end());
      from[axis] += start;
      copyElement(part, next++, operand, offsetOf(operand.type().shape, from));
    });
    start += type.shape[axis];
    parts.push_back(std::move(part));
  }
  return parts;
}

Literal tile(const Literal& operand, const TensorType& type) {
  const Shape& shape = operand.type().shape;
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    Index from;
    for (size_t axis = 0; axis < index.size(); ++axis) {
      from.push_back(index[axis] % shape[axis]);
    }
    copyElement(result, next++, operand, offsetOf(shape, from));
  });
  return result;
}

Literal trilu(const ops::Trilu& op, const Literal& operand) {
  const Shape& shape = operand.type().shape;
  const size_t rank = shape.rank();
  Literal result(operand.type());
  int64_t next = 0;
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> index) {
    const int64_t diagonal = index[rank - 1] - index[rank - 2];
    if (op.upper ? diagonal >= op.k : diagonal <= op.k) {
      copyElement(result, next, operand, next);
    }
    ++next;
  });
  return result;
}

} // namespace dfc::evaluation
