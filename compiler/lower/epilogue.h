// Epilogues of cuBLASLt: what it computes after a product in the same launch, matched with the body of a
// fused matmul.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/calibration.h"
#include "ir/plan/launch_plan.h"

namespace dfc::cuda {

/// result = activation(alpha * product + bias + addend); operands by their index in the op.
struct Epilogue {
  double alpha = 1;
  std::optional<size_t> bias;   ///< one value a column
  std::optional<size_t> addend; ///< of the result's shape
  Activation activation = Activation::None;
};

bool isProduct(const OpRow& row); ///< matmul or fusedMatmul
ops::Matmul productOf(const OpRow& row);
/// The product of an op as cuBLASLt is asked for it, without its epilogue.
ProductCall productCall(const Graph& graph, OpId op);

/// The product of an op, alone in a graph. A calibration keeps the choice of an algorithm under its
/// signature, so that the choice, and with it the result's bits, is the same whatever is fused behind the
/// product.
LoneOp plainProductOf(const Graph& graph, OpId op);

/// None where the body is anything else: then a kernel of its own follows the product. Scalars count only
/// where they are constants of the graph. GELU is an epilogue only of products whose rounding is coarser than
/// the error of cuBLASLt's tanh: of f16, bf16 and, by the product's precision, tf32.
std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op);

} // namespace dfc::cuda
