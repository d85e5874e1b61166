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
  std::optional<size_t> slopeOf; ///< where the ending is gelu's slope
};

bool isProduct(const OpRow& row); ///< matmul or fusedMatmul
ops::Matmul productOf(const OpRow& row);
/// The product of an op as cuBLASLt is asked for it, without addresses.
MatmulCall productCall(const Graph& graph, OpId op);

/// The product of an op alone. Its signature is where a calibration keeps the choice of an algorithm, so that
/// the choice, and with it the result's bits, is the same whatever is fused behind the product.
LoneOp plainProductOf(const Graph& graph, OpId op);

/// Whether not every algorithm of a product has the ending, so that the library is asked.
inline bool isAskedFor(Ending ending) { return ending == Ending::Gelu || ending == Ending::GeluSlope; }

/// None where the body is anything else: then it is a kernel of its own after the product. Scalars count only
/// where they are constants of the graph. GELU and its gradient end products only whose own rounding is
/// coarser than what cuBLASLt makes of them: of f16, bf16 and, by the product's precision, tf32.
std::optional<Epilogue> libraryEpilogue(const Graph& graph, OpId op);

/// What a calibration keeps in the row of an op that ends in what is asked for: the product's algorithm, and
/// who ended it sooner, the library or a kernel.
std::string withEnding(std::string_view algorithm, bool byLibrary);
/// Who ends it in such words; none in others.
std::optional<bool> endedByLibrary(std::string_view choice);

} // namespace dfc::cuda
