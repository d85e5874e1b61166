#include "runtime/cpu/kernels/windows/packed_filters.h"

#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/onednn_library.h"

namespace dfc {

PackedFilters::PackedFilters(std::vector<Piece> pieces, std::vector<size_t> offsets, size_t bytes,
                             ThreadPool& pool)
    : pieces_(std::move(pieces)), offsets_(std::move(offsets)), memory_(bytes), pool_(pool),
      threads_(partCount(pool, static_cast<int64_t>(pieces_.size()), static_cast<double>(bytes))) {}

std::unique_ptr<PackedFilters> PackedFilters::make(std::vector<Piece> pieces, ThreadPool& pool) {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const Piece& piece : pieces) {
    const size_t packed = onednnModule().packedBytes(piece.convolution);
    if (packed == 0) {
      return nullptr;
    }
    offsets.push_back(bytes);
    bytes += (packed + 63) / 64 * 64;
  }
  std::unique_ptr<PackedFilters> filters(
      new PackedFilters(std::move(pieces), std::move(offsets), bytes, pool));
  for (const Piece& piece : filters->pieces_) {
    if (!filters->packers_.add(piece.shape, [&] {
          return onednnModule().make(onednn::PackFilterRequest{piece.convolution}, filters->threads_);
        })) {
      return nullptr;
    }
  }
  return filters;
}

void PackedFilters::pack(const std::byte* filter) {
  if (packed_) {
    return;
  }
  pool_.run(threads_, [&](uint32_t thread) {
    const TaskRange range = tasksOfPart(static_cast<int64_t>(pieces_.size()), threads_, thread);
    for (int64_t index = range.begin; index < range.end; ++index) {
      const Piece& one = pieces_[static_cast<size_t>(index)];
      const std::byte* const from = filter + one.from * static_cast<int64_t>(sizeof(float));
      packers_.run(one.shape, thread, &from, memory_.data() + offsets_[static_cast<size_t>(index)],
                   threadScratch(packers_.scratchBytes()), "reorder of a filter");
    }
  });
  packed_ = true;
}

} // namespace dfc
