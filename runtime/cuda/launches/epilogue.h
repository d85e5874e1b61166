// What cuBLASLt can do to a product in the same launch, read off a fused matmul's body.
#pragma once

#include "ir/graph/graph.h"
#include "ir/machine/calibration.h"
#include "runtime/cuda/launches/matmul_call.h"

namespace dfc::cuda {

/// result = ending(alpha * product + bias + addend); operands by their index in the op.
struct Epilogue {
  double alpha = 1;
  std::optional<size_t> bias;   ///< one value a column
  std::optional<size_t> addend; ///< of the result's shape
  Ending ending = Ending::None;
};

bool isProduct(const OpRow& row); ///< matmul or fusedMatmul
ops::Matmul productOf(const OpRow& row);
/// The product of an op as cuBLASLt is asked for it, without addresses.
MatmulCall productCall(const Graph& graph, OpId op);

/// The product of an op alone. Its signature is where a calibration keeps the choice of an algorithm, so that
/// the choice, and with it the result's bits, is the same whatever is fused behind the product.
LoneOp plainProductOf(const Graph& graph, OpId op);

/// Whether not every algorithm of a product has the ending, so that the library is asked.
inline bool isAskedFor(Ending ending) { return ending == Ending::Gelu; }

/// None where the body is anything else: then it is a kernel of its own after the product. Scalars count only
/// where they are constants of the graph. GELU ends only products whose own rounding is coarser than what
/// cuBLASLt makes of it: of f16, bf16 and, by the product's precision, tf32.
std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op);

} // namespace dfc::cuda
