// Determinants of small matrices, by minors of their first rows.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

#include <map>

namespace dfc::onnx {
namespace {

constexpr int64_t mostRows = 4; // more rows would need pivots, which depend on the elements

class Minors {
 public:
  explicit Minors(Tensor matrices)
      : matrices_(matrices), size_(matrices.shape()[matrices.shape().rank() - 1]) {}

  /// Of the rows from `row` on and the columns of these bits, of which there are as many.
  Tensor of(int64_t row, uint32_t columns) {
    if (const auto known = known_.find(columns); known != known_.end()) {
      return known->second;
    }
    Tensor sum;
    bool isOdd = false;
    for (int64_t column = 0; column < size_; ++column) {
      const uint32_t bit = 1U << column;
      if ((columns & bit) == 0) {
        continue;
      }
      const Tensor product =
          columns == bit ? element(row, column) : element(row, column) * of(row + 1, columns & ~bit);
      sum = !sum.valid() ? product : isOdd ? sum - product : sum + product;
      isOdd = !isOdd;
    }
    known_.emplace(columns, sum);
    return sum;
  }

 private:
  /// One for each matrix.
  Tensor element(int64_t row, int64_t column) const {
    const Shape& shape = matrices_.shape();
    const size_t rank = shape.rank();
    Dims starts(rank, 0), ends(shape.dims().begin(), shape.dims().end());
    starts[rank - 2] = row;
    ends[rank - 2] = row + 1;
    starts[rank - 1] = column;
    ends[rank - 1] = column + 1;
    return reshape(slice(matrices_, starts, ends), Dims(shape.dims().begin(), shape.dims().end() - 2));
  }

  Tensor matrices_;
  int64_t size_;
  std::map<uint32_t, Tensor> known_; // by columns
};

NodeResults determinant(NodeCall& call) {
  const Tensor a = call.operandOfRank(0, 2);
  const Shape& shape = a.shape();
  const int64_t size = shape[shape.rank() - 1];
  if (shape[shape.rank() - 2] != size || size == 0) {
    call.refuse("matrices of shape " + toString(shape));
  }
  if (size > mostRows) {
    call.refuse("matrices of more than 4 x 4");
  }
  return {Minors(a).of(0, (1U << size) - 1)};
}

} // namespace

MappingTable determinantMapping() { return {{"Det", determinant}}; }

} // namespace dfc::onnx
