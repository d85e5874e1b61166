#include "compiler/lower/tile_matmul.h"

#include "compiler/lower/epilogue.h"
#include "compiler/lower/kernels/products/tile_product.h"

#include <charconv>

namespace dfc::cuda {

bool runsTiles(std::string_view architecture) {
  constexpr std::string_view prefix = "sm_";
  constexpr int least = 80;
  int number = 0;
  return architecture.substr(0, prefix.size()) == prefix &&
         std::from_chars(architecture.data() + prefix.size(), architecture.data() + architecture.size(),
                         number)
                 .ec == std::errc() &&
         number >= least;
}

bool mayTile(const OpRow& row, OperandTypes operands) {
  return TileProduct::of(productOf(row), operands.take_front(2)).has_value();
}

bool choosesTiles(const ops::Matmul& matmul, OperandTypes factors, std::string_view choice,
                  const GpuShape& gpu) {
  const auto product = TileProduct::of(matmul, factors);
  return product && (choice.empty() ? product->isSmall(gpu) : choice == tileChoice);
}

GeneratedKernels generateTileMatmul(const OpRow& row, OperandTypes operands, const TensorType& result) {
  const auto* fused = row.getIf<ops::FusedMatmul>();
  return tileProductKernel(
      *TileProduct::of(productOf(row), operands.take_front(2)),
      fused == nullptr
          ? identityChain(result)
          : elementwiseChain(fused->epilogue(), fused->epilogueOperands(operands), result.element));
}

} // namespace dfc::cuda
