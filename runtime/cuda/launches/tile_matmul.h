// Which products our own tiles make instead of cuBLASLt's, and with what behind them.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cuda/kernels/generated_kernel.h"

#include <string_view>

namespace dfc::cuda {

/// The word for them where a calibration keeps the algorithm of a product.
inline constexpr std::string_view tileChoice = "dfc tiles 32x32";

/// Whether a GPU of this architecture ("sm_90") has what they are made with: tensor cores for tf32, copies
/// past registers.
bool runsTiles(std::string_view architecture);

/// Whether our tiles make the op's product at all: then a calibration tries them.
bool mayTile(const OpRow& row, OperandTypes operands);

/// The product with all that follows it, in one launch; the arguments are those of the op. None where
/// cuBLASLt is chosen, or where nothing is chosen and the product is not small. Like cuBLASLt's algorithms it
/// goes by the product alone, so that its bits do not depend on what was fused behind it.
std::optional<GeneratedWork> generateTileMatmul(const OpRow& row, OperandTypes operands,
                                                const TensorType& result, std::string_view choice,
                                                const GpuShape& gpu);

} // namespace dfc::cuda
