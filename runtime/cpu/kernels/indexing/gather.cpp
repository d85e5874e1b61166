// gather: whole slices are copied; an index out of range writes the bits that the op defines. Slices are
// dealt out to threads, and long slices are cut first.
#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/indexing/index_reader.h"
#include "runtime/cpu/kernels/indexing/indexing.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace dfc {
namespace {

// Bits: an unsigned integer as wide as an element.
template <class Bits>
class GatherKernel final : public CpuKernel {
 public:
  GatherKernel(const ops::Gather& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), view_(operands[0].shape, op.axis), indices_(operands[1], view_.length, op.part),
        chunk_(std::clamp<int64_t>(view_.inner, 1, chunkElements)),
        chunks_((view_.inner + chunk_ - 1) / chunk_), tasks_(view_.outer * indices_.count() * chunks_) {
    if (isFloat(operands[0].element)) {
      const Literal nan = filledLiteral({operands[0].element, {}}, std::numeric_limits<double>::quiet_NaN());
      std::memcpy(&nothing_, nan.bytes().data(), sizeof(Bits));
    }
    const auto bytes = static_cast<double>(tasks_ * chunk_) * sizeof(Bits);
    parts_ = partCount(pool, tasks_, bytes * 0.2 + 2 * static_cast<double>(tasks_));
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const auto* from = reinterpret_cast<const Bits*>(operands[0]);
    auto* to = reinterpret_cast<Bits*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(tasks_, parts_, part);
      if (mine.begin == mine.end) {
        return;
      }
      Position position(*this, mine.begin);
      for (int64_t task = mine.begin; task < mine.end; ++task, position.next(*this)) {
        take(position, from, operands[1], to);
      }
    });
  }

 private:
  static constexpr int64_t chunkElements = 16 * 1024;

  /// Of a task: the slice that it makes, and the index that the slice follows. Counted up, as divisions would
  /// take longer than short slices.
  struct Position {
    int64_t slice, outer, at, column;

    Position(const GatherKernel& kernel, int64_t task)
        : slice(task / kernel.chunks_), outer(slice / kernel.indices_.count()),
          at(slice % kernel.indices_.count()), column(task % kernel.chunks_ * kernel.chunk_) {}
    void next(const GatherKernel& kernel) {
      column += kernel.chunk_;
      if (column < kernel.view_.inner) {
        return;
      }
      column = 0;
      ++slice;
      if (++at == kernel.indices_.count()) {
        at = 0;
        ++outer;
      }
    }
  };

  void take(const Position& task, const Bits* from, const std::byte* indices, Bits* to) const {
    const int64_t count = std::min(chunk_, view_.inner - task.column);
    const int64_t place = indices_.place(indices, task.at);
    Bits* const out = to + task.slice * view_.inner + task.column;
    const Bits* const in = from + (task.outer * view_.length + place) * view_.inner + task.column;
    if (place < 0) {
      std::fill_n(out, count, place == IndexReader::nothing ? nothing_ : Bits(0));
    } else if (count == 1) {
      *out = *in;
    } else {
      std::memcpy(out, in, static_cast<size_t>(count) * sizeof(Bits));
    }
  }

  ThreadPool& pool_;
  AxisView view_;
  IndexReader indices_;
  int64_t chunk_, chunks_, tasks_; // elements of a task; tasks of a slice; in all
  Bits nothing_ = 0;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeGatherKernel(const ops::Gather& op, OperandTypes operands, ThreadPool& pool) {
  switch (byteWidth(operands[0].element)) {
  case 1: return std::make_unique<GatherKernel<uint8_t>>(op, operands, pool);
  case 2: return std::make_unique<GatherKernel<uint16_t>>(op, operands, pool);
  case 4: return std::make_unique<GatherKernel<uint32_t>>(op, operands, pool);
  default: return std::make_unique<GatherKernel<uint64_t>>(op, operands, pool);
  }
}

} // namespace dfc
