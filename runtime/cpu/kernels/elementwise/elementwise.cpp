// Walks the result in tiles. Where an operand is gathered in long runs, tiles end where runs end, so that
// most of them are read in place.
#include "runtime/cpu/kernels/elementwise/elementwise.h"

#include "runtime/cpu/kernels/cache_hints.h"
#include "runtime/cpu/kernels/elementwise/tile_source.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>

namespace dfc {
namespace {

class ElementwiseKernel final : public CpuKernel {
 public:
  ElementwiseKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results,
                    ThreadPool& pool, const SharedBuffers& shared)
      : pool_(pool),
        source_(bodyOf(attributes, operands, results), operands, naturalOrder(results.front().shape), true),
        width_(byteWidth(results.front().element)) {
    constexpr int64_t worthAligning = 256;
    rowLength_ = source_.runLength() >= worthAligning ? source_.runLength() : source_.elements();
    tilesPerRow_ = (rowLength_ + tileElements - 1) / tileElements;
    const int64_t rows = rowLength_ == 0 ? 0 : source_.elements() / rowLength_;
    tiles_ = rows * tilesPerRow_;
    parts_ = partCount(pool, tiles_, source_.cost());
    const bool large = results.front().bytes() >= 1 << 20; // smaller ones cross the bus in no time
    streams_ = large && shared.result;
    for (size_t i = 0; i < shared.operands.size(); ++i) {
      if (large && shared.operands[i] && operands[i].shape == results.front().shape) {
        demoted_.push_back({i, byteWidth(operands[i].element)});
      }
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) { runPart(part, operands, results.front()); });
  }

 private:
  void runPart(uint32_t part, llvm::ArrayRef<const std::byte*> operands, std::byte* result) {
    std::byte* scratch = threadScratch(source_.scratchBytes() + (streams_ ? tileBytes : 0));
    std::byte* streamed = scratch + source_.scratchBytes();
    const UnitRange tiles = unitsOfPart(tiles_, parts_, part);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const int64_t column = tile % tilesPerRow_ * tileElements;
      const int64_t begin = tile / tilesPerRow_ * rowLength_ + column;
      const int64_t count = std::min(tileElements, rowLength_ - column);
      std::byte* place = result + begin * width_;
      source_.tile(operands, begin, count, scratch, streams_ ? streamed : place);
      if (streams_) {
        streamOut(place, streamed, static_cast<size_t>(count * width_));
      }
      for (const auto& [operand, width] : demoted_) {
        demote(operands[operand] + begin * width, static_cast<size_t>(count * width));
      }
    }
    if (streams_) {
      endStreaming();
    }
  }

  static constexpr size_t tileBytes = tileElements * sizeof(double);
  ThreadPool& pool_;
  TileSource source_;
  int64_t width_, rowLength_, tilesPerRow_, tiles_;
  uint32_t parts_;
  bool streams_; ///< results go past the caches
  llvm::SmallVector<std::pair<size_t, int64_t>, 2>
      demoted_; ///< operands that came, and their elements' width
};

} // namespace

std::unique_ptr<CpuKernel> makeElementwiseKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool,
                                                 const SharedBuffers& shared) {
  return std::make_unique<ElementwiseKernel>(attributes, operands, results, pool, shared);
}

} // namespace dfc
