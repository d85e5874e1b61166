#include "runtime/cpu/kernels/packed_operand.h"

#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/onednn_library.h"

namespace dfc {
namespace {

onednn::Request packingFor(const onednn::ConvolutionRequest& reader) {
  return onednn::PackFilterRequest{reader};
}
onednn::Request packingFor(const onednn::MatmulRequest& reader) { return onednn::PackRequest{reader}; }

} // namespace

PackedOperand::PackedOperand(std::vector<Piece> pieces, std::vector<size_t> offsets, size_t bytes,
                             ThreadPool& pool)
    : pieces_(std::move(pieces)), offsets_(std::move(offsets)), memory_(bytes), pool_(pool),
      threads_(partCount(pool, static_cast<int64_t>(pieces_.size()), static_cast<double>(bytes))) {}

std::unique_ptr<PackedOperand> PackedOperand::make(std::vector<Piece> pieces, ThreadPool& pool) {
  std::vector<size_t> offsets;
  size_t bytes = 0;
  for (const Piece& piece : pieces) {
    const size_t packed =
        std::visit([](const auto& reader) { return onednnModule().packedBytes(reader); }, piece.reader);
    if (packed == 0) {
      return nullptr;
    }
    offsets.push_back(bytes);
    bytes += (packed + 63) / 64 * 64;
  }
  std::unique_ptr<PackedOperand> operand(
      new PackedOperand(std::move(pieces), std::move(offsets), bytes, pool));
  for (const Piece& piece : operand->pieces_) {
    const onednn::Request packing =
        std::visit([](const auto& reader) { return packingFor(reader); }, piece.reader);
    if (!operand->packers_.add(piece.shape,
                               [&] { return onednnModule().make(packing, operand->threads_); })) {
      return nullptr;
    }
  }
  return operand;
}

void PackedOperand::pack(const std::byte* operand) {
  if (packed_) {
    return;
  }
  pool_.run(threads_, [&](uint32_t thread) {
    const TaskRange range = tasksOfPart(static_cast<int64_t>(pieces_.size()), threads_, thread);
    for (int64_t index = range.begin; index < range.end; ++index) {
      const Piece& one = pieces_[static_cast<size_t>(index)];
      const std::byte* const from = operand + one.from;
      packers_.run(one.shape, thread, &from, memory_.data() + offsets_[static_cast<size_t>(index)],
                   threadScratch(packers_.scratchBytes()), "reorder of a constant operand");
    }
  });
  packed_ = true;
}

} // namespace dfc
