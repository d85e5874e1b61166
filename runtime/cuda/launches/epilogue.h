// What cuBLASLt can do to a product in the same launch, read off a fused matmul's body.
#pragma once

#include "ir/calibration.h"
#include "runtime/cuda/launches/matmul_call.h"

namespace dfc::cuda {

/// result = relu?(alpha * product + bias + addend); operands by their index in the op.
struct Epilogue {
  double alpha = 1;
  std::optional<size_t> bias;   ///< one value a column
  std::optional<size_t> addend; ///< of the result's shape
  bool relu = false;
};

bool isProduct(const OpRow& row); ///< matmul or fusedMatmul
ops::Matmul productOf(const OpRow& row);
/// The product of an op as cuBLASLt is asked for it, without addresses.
MatmulCall productCall(const Graph& graph, OpId op);

/// The product of an op alone. Its signature is where a calibration keeps the choice of an algorithm, so that
/// the choice, and with it the result's bits, is the same whatever is fused behind the product.
LoneOp plainProductOf(const Graph& graph, OpId op);

/// None where the body is anything else: then it is a kernel of its own after the product. Scalars count only
/// where they are constants of the graph.
std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op);

} // namespace dfc::cuda
