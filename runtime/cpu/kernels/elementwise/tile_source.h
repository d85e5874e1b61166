// TileSource: a fused body with the readers of its operands over one iteration space. It computes the
// elements of the space tile by tile, for elementwise kernels to store and for reductions to reduce.
#pragma once

#include "runtime/cpu/kernels/elementwise/operand_reader.h"
#include "runtime/cpu/kernels/elementwise/tile_program.h"

namespace dfc {

class TileSource {
 public:
  /// `order`: the axes of the operands' common shape in the order in which the space walks them, outermost
  /// first. `store`: see TileProgram.
  TileSource(const ops::FusedBody& body, OperandTypes operands, llvm::ArrayRef<size_t> order, bool store);

  ElementType resultType() const { return program_.resultType(); }
  int64_t elements() const { return elements_; }
  /// Tiles within multiples of this length are read without gathering, where that pays; else 0.
  int64_t runLength() const { return runLength_; }
  /// The length of tiles that costs least: whole periods, where operands repeat a row.
  int64_t tileLength() const { return period_ == 0 ? tileElements : tileElements / period_ * period_; }
  bool repeatsRows() const { return period_ != 0; }
  /// Bytes of scratch for one caller.
  size_t scratchBytes() const;
  /// Nanoseconds for all elements, roughly: for the number of parts.
  double cost() const;

  /// Before the first tile of these operands with this scratch: fills tiles with operands of one element, and
  /// with repeated rows.
  void begin(llvm::ArrayRef<const std::byte*> operands, std::byte* scratch) const;
  /// Elements [begin, begin + count) of the space, count <= tileElements; `result` as for TileProgram::run.
  const void* tile(llvm::ArrayRef<const std::byte*> operands, int64_t begin, int64_t count,
                   std::byte* scratch, std::byte* result) const;

  /// Prefetches what tile() will read of operands that are contiguous in the order of the space.
  void bringNear(llvm::ArrayRef<const std::byte*> operands, int64_t begin, int64_t count) const;

  /// The tiles of one call, with these operands and this scratch, after `begin`. Where the body is one chain,
  /// a tile costs little more than its elements.
  class Tiles {
   public:
    Tiles(const TileSource& source, llvm::ArrayRef<const std::byte*> operands, std::byte* scratch);
    void setFirst(const std::byte* operand) { operands_[0] = operand; }
    /// As TileSource::tile, of a source that stores.
    void run(int64_t begin, int64_t count, std::byte* result) const;

   private:
    const float* inputOf(uint32_t operand, int64_t begin, int64_t inRow) const;
    const TileSource& source_;
    llvm::SmallVector<const std::byte*, 8> operands_;
    std::byte* scratch_;
    const TileProgram::Chain* chain_; // null where an operand is gathered
  };

 private:
  bool isSplat(size_t operand) const {
    return program_.reads(operand) && readers_[operand].kind() == OperandReader::Kind::Splat;
  }

  bool repeats(size_t operand) const {
    return period_ != 0 && program_.reads(operand) && readers_[operand].period() == period_;
  }
  size_t tilesOfProgram() const { return readers_.size() + program_.scratchTiles(); }
  std::byte* rowsOf(size_t operand, std::byte* scratch) const; ///< of an operand that repeats a row

  TileProgram program_;
  llvm::SmallVector<OperandReader, 4> readers_;
  int64_t period_ = 0; ///< of rows that several operands may repeat; 0 for none
  int64_t elements_ = 1;
  int64_t runLength_ = 0;
  size_t instructions_;
};

/// The axes of a shape in their own order.
llvm::SmallVector<size_t, 8> naturalOrder(const Shape& shape);

} // namespace dfc
