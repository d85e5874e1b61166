// Computes the result tile by tile. Where an operand is gathered in long contiguous ranges, tiles end where
// ranges end, so that most tiles are read in place.
#include "runtime/cpu/kernels/elementwise/elementwise.h"

#include "runtime/cpu/kernels/cache_hints.h"
#include "runtime/cpu/kernels/elementwise/tile_source.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>

namespace dfc {
namespace {

// Prefetching for writing: the result may overwrite lines that another core has read since.
void bringNear(llvm::ArrayRef<InOrderOperand> inOrder, llvm::ArrayRef<const std::byte*> operands,
               int64_t begin, int64_t count, const std::byte* result) {
  for (const InOrderOperand& operand : inOrder) {
    const std::byte* from = operands[operand.index];
    (from == result ? prefetchToWrite : prefetch)(from + begin * operand.width,
                                                  static_cast<size_t>(count * operand.width));
  }
}

class ElementwiseKernel final : public CpuKernel {
 public:
  ElementwiseKernel(const OpAttributes& attributes, OperandTypes operands, OperandTypes results,
                    ThreadPool& pool, const SharedBuffers& shared)
      : pool_(pool),
        source_(bodyOf(attributes, operands, results), operands, naturalOrder(results.front().shape), true),
        width_(byteWidth(results.front().element)) {
    constexpr int64_t worthAligning = 256;
    const bool aligns = !source_.repeatsRows() && source_.runLength() >= worthAligning;
    rowLength_ = aligns ? source_.runLength() : source_.elements();
    tileLength_ = source_.tileLength();
    tilesPerRow_ = (rowLength_ + tileLength_ - 1) / tileLength_;
    const int64_t rows = rowLength_ == 0 ? 0 : source_.elements() / rowLength_;
    tiles_ = rows * tilesPerRow_;
    parts_ = partCount(pool, tiles_, source_.cost());
    const bool large =
        results.front().bytes() >= 1 << 20; // smaller ones stay in the caches and transfer quickly
    if (large && shared.result) {
      leaves_ = shared.byLastCache.value_or(canDemote()) ? Leaves::ByLastCache : Leaves::PastCaches;
    }
    for (size_t i = 0; large && i < operands.size(); ++i) {
      if (operands[i].shape == results.front().shape) {
        inOrder_.push_back(
            {i, byteWidth(operands[i].element), i < shared.operands.size() && shared.operands[i]});
      }
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) { runPart(part, operands, results.front()); });
  }

 private:
  void runPart(uint32_t part, llvm::ArrayRef<const std::byte*> operands, std::byte* result) {
    const bool streams = leaves_ == Leaves::PastCaches;
    std::byte* scratch = threadScratch(source_.scratchBytes() + (streams ? tileBytes : 0));
    std::byte* streamed = scratch + source_.scratchBytes();
    const TaskRange tiles = tasksOfPart(tiles_, parts_, part);
    if (tiles.begin == tiles.end) {
      return;
    }
    const TileSource::Tiles computed(source_, operands, scratch);
    for (int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const int64_t begin = beginOf(tile), count = beginOf(tile + 1) - begin;
      if (tile + 1 < tiles.end) { // hardware prefetchers stop at a page, which is about a tile
        const int64_t next = beginOf(tile + 1);
        bringNear(inOrder_, operands, next, beginOf(tile + 2) - next, result);
      }
      std::byte* place = result + begin * width_;
      computed.run(begin, count, streams ? streamed : place);
      if (streams) {
        streamOut(place, streamed, static_cast<size_t>(count * width_));
      } else if (leaves_ == Leaves::ByLastCache) {
        demote(place, static_cast<size_t>(count * width_));
      }
    }
    if (streams) {
      endStreaming();
    }
    handOn(operands, beginOf(tiles.begin), beginOf(tiles.end));
  }

  int64_t beginOf(int64_t tile) const {
    const int64_t row = tile / tilesPerRow_, column = tile % tilesPerRow_ * tileLength_;
    return row * rowLength_ + column;
  }

  void handOn(llvm::ArrayRef<const std::byte*> operands, int64_t begin, int64_t end) const {
    for (const InOrderOperand& operand : inOrder_) {
      if (operand.comes) {
        ThreadPool::afterPart(demote, operands[operand.index] + begin * operand.width,
                              static_cast<size_t>((end - begin) * operand.width));
      }
    }
  }

  /// How results leave for another device.
  enum class Leaves : uint8_t { Not, ByLastCache, PastCaches };

  static constexpr size_t tileBytes = tileElements * sizeof(double);
  ThreadPool& pool_;
  TileSource source_;
  int64_t width_, rowLength_, tileLength_, tilesPerRow_, tiles_;
  uint32_t parts_;
  Leaves leaves_ = Leaves::Not;
  llvm::SmallVector<InOrderOperand, 3> inOrder_; // large ones
};

} // namespace

ElementwisePieces::ElementwisePieces(const OpAttributes& attributes, OperandTypes operands,
                                     const TensorType& result)
    : source_(bodyOf(attributes, operands, result), operands, naturalOrder(result.shape), true),
      width_(byteWidth(result.element)), firstWidth_(byteWidth(operands.front().element)) {
  for (size_t i = 1; i < operands.size(); ++i) {
    if (operands[i].shape == result.shape) {
      inOrder_.push_back({i, byteWidth(operands[i].element)});
    }
  }
}

uint32_t ElementwisePieces::parts(const ThreadPool& pool) const {
  return partCount(pool, (source_.elements() + tileElements - 1) / tileElements, source_.cost());
}

void ElementwisePieces::run(llvm::ArrayRef<const std::byte*> operands, std::byte* result, Piece piece,
                            std::byte* scratch) const {
  constexpr int64_t shortRun = 256; // below it, gathering costs less than more tiles
  if (piece.stride == piece.length && piece.firstStride == piece.length && piece.length < shortRun) {
    piece = {piece.begin, piece.length * piece.rows, 1};
  }
  TileSource::Tiles tiles(source_, operands, scratch);
  const int64_t step = source_.tileLength();
  for (int64_t row = 0; row < piece.rows; ++row) {
    const int64_t first = piece.begin + row * piece.stride, end = first + piece.length;
    tiles.setFirst(operands[0] + row * (piece.firstStride - piece.stride) * firstWidth_);
    for (int64_t at = first; at < end; at += step) {
      const int64_t next = at + step < end ? at + step : first + piece.stride;
      if (next < end || row + 1 < piece.rows) { // hardware prefetchers stop at a page
        bringNear(inOrder_, operands, next, std::min({step, piece.length, source_.elements() - next}),
                  result);
      }
      tiles.run(at, std::min(step, end - at), result + at * width_);
    }
  }
}

std::unique_ptr<CpuKernel> makeElementwiseKernel(const OpAttributes& attributes, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool,
                                                 const SharedBuffers& shared) {
  return std::make_unique<ElementwiseKernel>(attributes, operands, results, pool, shared);
}

} // namespace dfc
