#include "runtime/cpu/kernels/movement/movement.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/elementwise/operand_reader.h"
#include "runtime/cpu/kernels/movement/strided_copy.h"

#include <cstring>

namespace dfc {
namespace {

using Strides = llvm::SmallVector<int64_t, 8>;

/// Copies operand `operand` to result `result`.
struct Piece {
  size_t operand;
  StridedLayout layout;
  size_t result = 0;
};

Strides dimsOf(const Shape& shape) { return {shape.dims().begin(), shape.dims().end()}; }

Piece transposePiece(const ops::Transpose& op, OperandTypes operands, OperandTypes results) {
  const Strides own = rowMajorStrides(operands[0].shape);
  Strides from;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    from.push_back(op.permutation.empty() ? own[own.size() - 1 - axis]
                                          : own[static_cast<size_t>(op.permutation[axis])]);
  }
  const Shape& shape = results[0].shape;
  return {0, {dimsOf(shape), from, rowMajorStrides(shape), byteWidth(results[0].element)}};
}

Piece broadcastPiece(OperandTypes operands, OperandTypes results) {
  const Shape& shape = results[0].shape;
  return {0,
          {dimsOf(shape), broadcastStrides(operands[0].shape, shape), rowMajorStrides(shape),
           byteWidth(results[0].element)}};
}

Piece slicePiece(const ops::Slice& op, OperandTypes operands, OperandTypes results) {
  Strides from = rowMajorStrides(operands[0].shape);
  int64_t offset = 0;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    offset += op.starts[axis] * from[axis];
    from[axis] *= op.strides.empty() ? 1 : op.strides[axis];
  }
  const Shape& shape = results[0].shape;
  return {0, {dimsOf(shape), from, rowMajorStrides(shape), byteWidth(results[0].element), offset}};
}

Piece padPiece(const ops::Pad& op, OperandTypes operands, OperandTypes results) {
  const Strides result = rowMajorStrides(results[0].shape);
  Strides to = result;
  int64_t offset = 0;
  for (size_t axis = 0; axis < to.size(); ++axis) {
    offset += op.low[axis] * result[axis];
    to[axis] *= 1 + (op.interior.empty() ? 0 : op.interior[axis]);
  }
  const Shape& shape = operands[0].shape;
  return {0, {dimsOf(shape), rowMajorStrides(shape), to, byteWidth(results[0].element), 0, offset}};
}

// Each axis twice: once for the repetitions, of stride 0, and once for the elements.
Piece tilePiece(const ops::Tile& op, OperandTypes operands, OperandTypes results) {
  const Shape& part = operands[0].shape;
  const Strides own = rowMajorStrides(part), whole = rowMajorStrides(results[0].shape);
  Strides dims, from, to;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    dims.insert(dims.end(), {op.repeats[axis], part[axis]});
    from.append({0, own[axis]});
    to.append({part[axis] * whole[axis], whole[axis]});
  }
  return {0, {dims, from, to, byteWidth(results[0].element)}};
}

std::vector<Piece> splitPieces(const ops::Split& op, OperandTypes operands, OperandTypes results) {
  const Shape& whole = operands[0].shape;
  const Strides from = rowMajorStrides(whole);
  const auto axis = static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(whole.rank()) : op.axis);
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const Shape& shape = results[i].shape;
    pieces.push_back(
        {0,
         {dimsOf(shape), from, rowMajorStrides(shape), byteWidth(results[i].element), at * from[axis]},
         i});
    at += shape[axis];
  }
  return pieces;
}

std::vector<Piece> concatPieces(const ops::Concat& op, OperandTypes operands, OperandTypes results) {
  const Shape& whole = results[0].shape;
  const Strides to = rowMajorStrides(whole);
  const auto axis = static_cast<size_t>(op.axis < 0 ? op.axis + static_cast<int64_t>(whole.rank()) : op.axis);
  std::vector<Piece> pieces;
  int64_t at = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Shape& shape = operands[i].shape;
    pieces.push_back(
        {i, {dimsOf(shape), rowMajorStrides(shape), to, byteWidth(results[0].element), 0, at * to[axis]}});
    at += shape[axis];
  }
  return pieces;
}

std::vector<Piece> piecesOf(const OpAttributes& attributes, OperandTypes operands, OperandTypes results) {
  switch (kindOf(attributes)) {
  case OpKind::Transpose: return {transposePiece(attributes.as<ops::Transpose>(), operands, results)};
  case OpKind::Broadcast: return {broadcastPiece(operands, results)};
  case OpKind::Slice: return {slicePiece(attributes.as<ops::Slice>(), operands, results)};
  case OpKind::Pad: return {padPiece(attributes.as<ops::Pad>(), operands, results)};
  case OpKind::Concat: return concatPieces(attributes.as<ops::Concat>(), operands, results);
  case OpKind::Split: return splitPieces(attributes.as<ops::Split>(), operands, results);
  case OpKind::Tile: return {tilePiece(attributes.as<ops::Tile>(), operands, results)};
  default: DFC_UNREACHABLE("not a movement op");
  }
}

class MovementKernel final : public CpuKernel {
 public:
  MovementKernel(const std::vector<Piece>& pieces, const Literal& fill, OperandTypes results,
                 ThreadPool& pool)
      : fill_(fill),
        fillCopy_(pool, {{results[0].shape.elements()}, {0}, {1}, byteWidth(results[0].element)}) {
    for (const Piece& piece : pieces) {
      copies_.push_back({piece.operand, StridedCopy(pool, piece.layout), piece.result});
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (fill_.type().shape.rank() == 0) {
      fillCopy_.run(fill_.bytes().data(), results[0]);
    }
    for (const Copy& made : copies_) {
      made.copy.run(operands[made.operand], results[made.result]);
    }
  }

 private:
  struct Copy {
    size_t operand;
    StridedCopy copy;
    size_t result;
  };
  std::vector<Copy> copies_;
  Literal fill_; // a scalar, or no element where nothing is filled
  StridedCopy fillCopy_;
};

// Views give operand 0, or a part of it; assign gives operand 1, the parameter's next value.
class CopyKernel final : public CpuKernel {
 public:
  CopyKernel(size_t operand, int64_t begin, int64_t bytes)
      : operand_(operand), begin_(begin), bytes_(static_cast<size_t>(bytes)) {}
  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const std::byte* from = operands[operand_] + begin_;
    if (bytes_ != 0 && from != results[0]) {
      std::memcpy(results[0], from, bytes_);
    }
  }

 private:
  size_t operand_;
  int64_t begin_;
  size_t bytes_;
};

} // namespace

std::unique_ptr<CpuKernel> makeMovementKernel(const OpAttributes& attributes, OperandTypes operands,
                                              OperandTypes results, ThreadPool& pool) {
  const OpKind kind = kindOf(attributes);
  if (classOf(kind) == OpClass::View || kind == OpKind::Assign) {
    const auto* part = attributes.getIf<ops::Subview>();
    const int64_t begin = part != nullptr ? part->start * byteWidth(results[0].element) : 0;
    return std::make_unique<CopyKernel>(kind == OpKind::Assign ? 1 : 0, begin, results[0].bytes());
  }
  const auto* pad = attributes.getIf<ops::Pad>();
  const Literal fill = pad != nullptr ? filledLiteral({results[0].element, {}}, pad->value)
                                      : Literal({results[0].element, {0}});
  return std::make_unique<MovementKernel>(piecesOf(attributes, operands, results), fill, results, pool);
}

} // namespace dfc
