// trilu: a contiguous range of each row is copied and the rest is zeroed, for every element type.
#include "runtime/cpu/kernels/indexing/indexing.h"

#include <algorithm>
#include <cstring>

namespace dfc {
namespace {

class TriluKernel final : public CpuKernel {
 public:
  TriluKernel(const ops::Trilu& op, const TensorType& type, ThreadPool& pool)
      : pool_(pool), upper_(op.upper), rows_(type.shape[type.shape.rank() - 2]),
        columns_(type.shape[type.shape.rank() - 1]), width_(byteWidth(type.element)),
        diagonal_(std::clamp(op.k, -rows_ - 1, columns_ + 1)), // beyond that nothing changes
        tasks_(columns_ == 0 ? 0 : type.shape.elements() / columns_),
        parts_(partCount(pool, tasks_, 0.2 * static_cast<double>(type.bytes()))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = mine.begin; task < mine.end; ++task) {
        const int64_t at = task * columns_ * width_;
        const int64_t edge = task % rows_ + diagonal_; // the column on the diagonal
        const int64_t begin = upper_ ? std::clamp<int64_t>(edge, 0, columns_) : 0;
        const int64_t end = upper_ ? columns_ : std::clamp<int64_t>(edge + 1, 0, columns_);
        fill(results[0] + at, 0, begin);
        std::memcpy(results[0] + at + begin * width_, operands[0] + at + begin * width_,
                    static_cast<size_t>((end - begin) * width_));
        fill(results[0] + at, end, columns_);
      }
    });
  }

 private:
  void fill(std::byte* row, int64_t begin, int64_t end) const {
    std::memset(row + begin * width_, 0, static_cast<size_t>((end - begin) * width_));
  }

  ThreadPool& pool_;
  bool upper_;
  int64_t rows_, columns_, width_, diagonal_, tasks_; // tasks: rows of all matrices
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeTriluKernel(const ops::Trilu& op, OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<TriluKernel>(op, operands[0], pool);
}

} // namespace dfc
