// TileProgram: a fused body (or a single elementwise op, which is a body of one instruction) lowered to tile
// functions over numbered tiles. Run once for each tile of the iteration space.
//
// Every instruction rounds to its own type, so a fused body gives the bits of its ops one by one. Consecutive
// instructions that read nothing else than their predecessor and operands are one pass (tiles/chain_tiles.h).
#pragma once

#include "runtime/cpu/kernels/tiles/chain_tiles.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {

/// The body of an elementwise op: itself for `fused`, one instruction for the others. Asserts that it is
/// elementwise or fused.
ops::FusedBody bodyOf(const OpAttributes& attributes, OperandTypes operands, OperandTypes results);

class TileProgram {
 public:
  /// `body` over operands of these element types; it may be empty (of one operand), which gives the operand.
  /// `store`: the last step writes the result in its storage type (16-bit floats as 16 bits); otherwise it
  /// stays in its compute type, for a reduction. `splats`: operands whose tiles repeat one element; may be
  /// empty.
  TileProgram(const ops::FusedBody& body, llvm::ArrayRef<ElementType> operands, bool store,
              llvm::ArrayRef<bool> splats = {});

  /// Element type of the result.
  ElementType resultType() const { return resultType_; }
  /// Operands that the body reads, in order; others need not be loaded.
  bool reads(size_t operand) const { return read_[operand]; }
  /// Tiles of scratch, each `tileElements` x 8 bytes, that `run` needs.
  size_t scratchTiles() const { return scratchTiles_; }
  /// The operands of the chain that the whole program is, if it is one and stores its result.
  struct Chain {
    uint32_t value = 0;
    struct Link {
      ChainLink link; ///< without pointers
      uint32_t other = 0, third = 0;
    };
    llvm::SmallVector<Link, 0> links;
  };
  const Chain* chain() const { return isChain_ ? &steps_.front().chain : nullptr; }
  /// operands[i]: `count` elements of operand i. Returns the address of the `count` elements of the result:
  /// with `store` it is `result` (which may be an operand of the result's type); otherwise they are in
  /// scratch or in an operand, and `result` is not touched.
  const void* run(llvm::ArrayRef<const std::byte*> operands, std::byte* scratch, std::byte* result,
                  int64_t count) const;

 private:
  static constexpr size_t mostLinks = 8;
  struct Step {
    TileFunction function;                 // null for a chain
    llvm::SmallVector<uint32_t, 3> inputs; // tiles: operands first, then scratch, then the result
    uint32_t output;
    Chain chain = {}; // by tiles in the place of operands
  };
  static void run(const Chain& chain, llvm::ArrayRef<void*> tiles, void* output, size_t count);
  class Lowering;
  llvm::SmallVector<Step, 8> steps_;
  llvm::SmallVector<bool, 4> read_;
  size_t operandCount_, scratchTiles_ = 0;
  uint32_t resultTile_ = 0;
  ElementType resultType_{};
  bool isChain_ = false;
};

} // namespace dfc
