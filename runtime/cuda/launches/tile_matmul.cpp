#include "runtime/cuda/launches/tile_matmul.h"

#include "runtime/cuda/kernels/tile_product.h"
#include "runtime/cuda/launches/epilogue.h"

namespace dfc::cuda {
namespace {

std::optional<TileProduct> tileProductOf(const OpRow& row, OperandTypes operands) {
  return TileProduct::of(productOf(row), operands.take_front(2));
}

} // namespace

bool mayTile(const OpRow& row, OperandTypes operands) { return tileProductOf(row, operands).has_value(); }

std::optional<GeneratedWork> generateTileMatmul(const OpRow& row, OperandTypes operands,
                                                const TensorType& result, std::string_view choice) {
  const auto product = tileProductOf(row, operands);
  if (!product || (choice.empty() ? !product->isSmall() : choice != tileChoice)) {
    return std::nullopt;
  }
  const auto* fused = row.getIf<ops::FusedMatmul>();
  return tileProductKernel(
      *product, fused == nullptr
                    ? identityChain(result)
                    : elementwiseChain(fused->epilogue(), fused->epilogueOperands(operands), result.element));
}

} // namespace dfc::cuda
