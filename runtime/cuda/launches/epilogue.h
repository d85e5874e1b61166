// What cuBLASLt can do to a product in the same launch, read off a fused matmul's body.
#pragma once

#include "ir/graph.h"
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

/// The same with its library epilogue, where it has one; addresses only say what is there. For asking which
/// algorithms there are.
MatmulCall productCallWithEpilogue(const Graph& graph, OpId op);

/// None where the body is anything else: then it is a kernel of its own after the product. Scalars count only
/// where they are constants of the graph.
std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op);

} // namespace dfc::cuda
