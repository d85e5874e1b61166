// Small products in tf32 by generated tiles instead of cuBLASLt's, with what follows them in the same launch.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"
#include "ir/graph/graph.h"

#include <string_view>

namespace dfc::cuda {

/// What a calibration records as the choice of a product's algorithm where tiles are the quickest.
inline constexpr std::string_view tileChoice = "dfc tiles 32x32";

/// Whether a GPU of this architecture ("sm_90") has tensor cores for tf32 and asynchronous copies to shared
/// memory.
bool runsTiles(std::string_view architecture);

/// Whether tiles can compute the op's product at all: then a calibration tries them.
bool mayTile(const OpRow& row, OperandTypes operands);

/// Whether tiles compute the product: they are chosen, or nothing is and the product is small. As with
/// cuBLASLt's algorithms the product alone decides, so that its bits do not depend on what is fused behind
/// it.
bool choosesTiles(const ops::Matmul& matmul, OperandTypes factors, std::string_view choice,
                  const GpuShape& gpu);

/// The product with all that follows it, in one launch; the arguments are those of the op.
GeneratedKernels generateTileMatmul(const OpRow& row, OperandTypes operands, const TensorType& result);

} // namespace dfc::cuda
