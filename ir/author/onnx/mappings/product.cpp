// ONNX's products of matrices.
#include "ir/author/dsl.h"
#include "ir/author/onnx/node_call.h"

namespace dfc::onnx {
namespace {

// A vector on the left is a row, one on the right a column, whose axis the result does not have.
NodeResults product(NodeCall& call) {
  const Tensor a = call.operand(0), b = call.operand(1);
  const bool row = a.shape().rank() == 1, column = b.shape().rank() == 1;
  const Tensor result = matmul(row ? reshape(a, {1, -1}) : a, column ? reshape(b, {-1, 1}) : b);
  if (!row && !column) {
    return {result};
  }
  Dims dims = dimsOf(result);
  dims.resize(dims.size() - (column ? 1 : 0));
  if (row) {
    dims.erase(dims.end() - (column ? 1 : 2));
  }
  return {reshape(result, dims)};
}

NodeResults general(NodeCall& call) {
  call.ignore("beta"); // of operand 2, which may be left out
  const Tensor a = call.operand(0), b = call.operand(1);
  Tensor result = matmul(a, b, {.a = call.integer("transA", 0) != 0, .b = call.integer("transB", 0) != 0});
  if (const double alpha = call.real("alpha", 1); alpha != 1) {
    result = alpha * result;
  }
  if (call.has(2)) {
    const double beta = call.real("beta", 1);
    result = result + (beta == 1 ? call.operand(2) : beta * call.operand(2));
  }
  return {result};
}

} // namespace

MappingTable productMappings() { return {{"Gemm", general}, {"MatMul", product}}; }

} // namespace dfc::onnx
