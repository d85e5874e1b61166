// The matrix product by its definition: a sum over k for each element of the result. What may be rounded to
// tf32 is not.
#include "compiler/interpreter/evaluate_parts.h"

namespace dfc::evaluation {
namespace {

// A batched matrix after its optional transpose; batch axes broadcast. Its elements are read once, as each
// takes part in many products.
class Matrix {
 public:
  Matrix(const Literal& stored, bool transposed) : shape_(stored.type().shape) {
    const int64_t count = shape_.elements();
    elements_.reserve(static_cast<size_t>(count));
    for (int64_t at = 0; at < count; ++at) {
      elements_.push_back(load(stored, at));
    }
    const int64_t storedColumns = shape_[shape_.rank() - 1];
    toRow_ = transposed ? 1 : storedColumns;
    toColumn_ = transposed ? storedColumns : 1;
  }
  // Of the matrix at `batch`: the offset of row, column.
  int64_t offset(llvm::ArrayRef<int64_t> batch, int64_t row, int64_t column) const {
    Index first(batch.begin(), batch.end());
    first.append({0, 0});
    return offsetOf(shape_, first) + row * toRow_ + column * toColumn_;
  }
  int64_t toRow() const { return toRow_; }
  int64_t toColumn() const { return toColumn_; }
  const Scalar& operator[](int64_t at) const { return elements_[static_cast<size_t>(at)]; }

 private:
  const Shape& shape_;
  std::vector<Scalar> elements_;
  int64_t toRow_ = 0, toColumn_ = 0; ///< from an element to that of the next row, or column
};

} // namespace

Literal matmul(const ops::Matmul& op, Operands operands, const TensorType& type) {
  const Shape& left = operands[0].type().shape;
  const int64_t inner = left[left.rank() - (op.transposeA ? 2 : 1)];
  const Matrix a(operands[0], op.transposeA), b(operands[1], op.transposeB);
  Literal result(type);
  int64_t next = 0;
  forEachIndex(type.shape, [&](llvm::ArrayRef<int64_t> index) {
    const llvm::ArrayRef<int64_t> batch = index.drop_back(2);
    int64_t inA = a.offset(batch, index[index.size() - 2], 0), inB = b.offset(batch, 0, index.back());
    double sum = 0;
    uint64_t wholeSum = 0;
    for (int64_t k = 0; k < inner; ++k, inA += a.toColumn(), inB += b.toRow()) {
      sum += a[inA].real * b[inB].real;
      wholeSum += static_cast<uint64_t>(a[inA].whole) * static_cast<uint64_t>(b[inB].whole);
    }
    store(result, next++,
          isFloat(type.element) ? rounded(type.element, sum) : wrapped(type.element, wholeSum));
  });
  return result;
}

Literal fusedMatmul(const ops::FusedMatmul& op, Operands operands, const TensorType& type) {
  const TensorType factors[2] = {operands[0].type(), operands[1].type()};
  llvm::SmallVector<Literal, 4> inputs{matmul(op.product(), operands.take_front(2), op.productType(factors))};
  inputs.append(operands.begin() + 2, operands.end());
  return fused(op.epilogue(), inputs, type);
}

} // namespace dfc::evaluation
