// layerNorm and rmsNorm: contiguous rows, a few at a time, so that short rows share the cost of a call.
#include "runtime/cpu/kernels/rows/rows.h"

#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/rows/row_norm.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>
#include <array>
#include <vector>

namespace dfc {
namespace {

// Computes in T (float or double).
template <class T>
class NormKernel final : public CpuKernel {
 public:
  NormKernel(const AxisView& view, double epsilon, bool centred, OperandTypes operands, ElementType result,
             ThreadPool& pool)
      : pool_(pool), width_(byteWidth(operands[0].element)), resultWidth_(byteWidth(result)),
        length_(view.length * view.inner), rows_(view.outer), converter_(operands[0].element),
        writer_(result), norm_(length_, epsilon, centred, operands.size() > 2) {
    for (size_t i = 1; i < operands.size() && !converter_.inPlace(); ++i) {
      factors_[i - 1].resize(static_cast<size_t>(length_));
    }
    group_ = std::max<int64_t>(1, groupElements / std::max<int64_t>(length_, 1));
    tasks_ = length_ == 0 ? 0 : (rows_ + group_ - 1) / group_;
    parts_ = partCount(pool, tasks_, 1.5 * static_cast<double>(rows_ * length_));
    if (tasks_ > 0) {
      norm_.prepare(std::min(group_, rows_), parts_);
      norm_.prepare(rows_ - (tasks_ - 1) * group_, parts_);
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (tasks_ == 0) { // no elements, and operands may be null
      return;
    }
    const T* factors[2] = {};
    for (size_t i = 1; i < operands.size(); ++i) {
      factors[i - 1] = converter_.read(operands[i], length_, factors_[i - 1].data());
    }
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = mine.begin; task < mine.end; ++task) {
        const int64_t first = task * group_, at = first * length_;
        runRows(part, operands[0] + at * width_, results[0] + at * resultWidth_,
                std::min(group_, rows_ - first), factors);
      }
    });
  }

 private:
  static constexpr int64_t groupElements = 65536 / sizeof(T);

  void runRows(uint32_t slot, const std::byte* from, std::byte* to, int64_t rows, const T* const* factors) {
    const int64_t count = rows * length_;
    const size_t ofNorm = norm_.scratchBytes(rows);
    const bool inPlace = converter_.inPlace() && writer_.inPlace();
    const size_t ofValues = inPlace ? 0 : static_cast<size_t>(count) * sizeof(T);
    std::byte* const scratch = threadScratch(ofNorm + ofValues);
    T* const made = writer_.place(to, reinterpret_cast<T*>(scratch + ofNorm));
    norm_.run(slot, converter_.read(from, count, made), made, rows, factors[0], factors[1], scratch);
    writer_.write(made, to, count);
  }

  ThreadPool& pool_;
  int64_t width_, resultWidth_, length_, rows_; // of storage; of a row; in all
  int64_t group_ = 1, tasks_ = 0;               // rows of a task
  StorageConverter<T> converter_, writer_;      // of the operands, of the result
  RowNorm<T> norm_;
  std::array<std::vector<T>, 2> factors_; // scale and bias widened
  uint32_t parts_ = 1;
};

} // namespace

std::unique_ptr<CpuKernel> makeNormKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                                          ElementType result, ThreadPool& pool) {
  const AxisView view(operands[0].shape, axis);
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<NormKernel<double>>(view, epsilon, centred, operands, result, pool);
  }
  return std::make_unique<NormKernel<float>>(view, epsilon, centred, operands, result, pool);
}

} // namespace dfc
