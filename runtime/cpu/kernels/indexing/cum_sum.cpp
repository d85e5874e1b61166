// cumSum: the axis is cut into chunks of a fixed length. A prefix sum is the sum of the chunks before, added
// in order, plus the prefix sum within the chunk (Blelloch 1990, two sweeps). So the bits follow from the
// shape alone, and a long row has tasks for several threads. Floats are accumulated in f64.
#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/indexing/indexing.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace dfc {
namespace {

template <class T, class Carry>
Carry carried(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<Carry>(value);
  }
}

template <class T, class Carry>
T settled(Carry sum) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(sum));
  } else {
    return static_cast<T>(sum);
  }
}

// Carry, the accumulator: double, or uint64_t, which wraps.
template <class T, class Carry>
class CumSumKernel final : public CpuKernel {
 public:
  CumSumKernel(const ops::CumSum& op, const Shape& shape, ThreadPool& pool)
      : pool_(pool), view_(shape, op.axis), exclusive_(op.exclusive), reverse_(op.reverse),
        columns_(std::clamp<int64_t>(view_.inner, 1, mostColumns)),
        panels_((view_.inner + columns_ - 1) / columns_), length_(chunkElements / columns_),
        chunks_((view_.length + length_ - 1) / length_), tasks_(view_.outer * panels_ * chunks_),
        parts_(partCount(pool, tasks_, 1.5 * static_cast<double>(shape.elements()))) {
    if (chunks_ > 1) {
      totals_.resize(static_cast<size_t>(view_.outer * chunks_ * view_.inner));
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const T* from = reinterpret_cast<const T*>(operands[0]);
    T* to = reinterpret_cast<T*>(results[0]);
    if (chunks_ > 1) {
      forEachTask([&](const Task& task, Carry* sums) { addUp(task, from, sums); });
      addChunks();
    }
    forEachTask([&](const Task& task, Carry* sums) { scan(task, from, to, sums); });
  }

 private:
  static constexpr int64_t mostColumns = 256;
  static constexpr int64_t chunkElements = 32 * 1024;

  // A chunk of adjacent columns.
  struct Task {
    int64_t outer, chunk, column, columns, begin, end; // begin, end: positions in the order of the sum
  };

  template <class Function>
  void forEachTask(const Function& function) {
    pool_.run(parts_, [&](uint32_t part) {
      auto* sums = reinterpret_cast<Carry*>(threadScratch(static_cast<size_t>(columns_) * sizeof(Carry)));
      const TaskRange mine = tasksOfPart(tasks_, parts_, part);
      for (int64_t i = mine.begin; i < mine.end; ++i) {
        const int64_t chunk = i % chunks_, column = i / chunks_ % panels_ * columns_;
        function(Task{i / chunks_ / panels_, chunk, column, std::min(columns_, view_.inner - column),
                      chunk * length_, std::min(view_.length, (chunk + 1) * length_)},
                 sums);
      }
    });
  }

  int64_t offsetOf(const Task& task, int64_t place) const {
    const int64_t index = reverse_ ? view_.length - 1 - place : place;
    return (task.outer * view_.length + index) * view_.inner + task.column;
  }
  Carry* totalsOf(const Task& task) {
    return totals_.data() + (task.outer * chunks_ + task.chunk) * view_.inner + task.column;
  }

  void addUp(const Task& task, const T* from, Carry* sums) {
    std::fill_n(sums, task.columns, Carry(0));
    for (int64_t place = task.begin; place < task.end; ++place) {
      const T* row = from + offsetOf(task, place);
      for (int64_t i = 0; i < task.columns; ++i) {
        sums[i] += carried<T, Carry>(row[i]);
      }
    }
    std::copy_n(sums, task.columns, totalsOf(task));
  }

  // Replaces the sum of each chunk by the sum of the chunks before it.
  void addChunks() {
    for (int64_t outer = 0; outer < view_.outer; ++outer) {
      for (int64_t column = 0; column < view_.inner; ++column) {
        Carry before = 0;
        for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
          Carry& total = totals_[static_cast<size_t>((outer * chunks_ + chunk) * view_.inner + column)];
          const Carry own = total;
          total = before;
          before += own;
        }
      }
    }
  }

  void scan(const Task& task, const T* from, T* to, Carry* sums) {
    std::fill_n(sums, task.columns, Carry(0));
    const Carry* const before = chunks_ > 1 ? totalsOf(task) : nullptr;
    for (int64_t place = task.begin; place < task.end; ++place) {
      const int64_t at = offsetOf(task, place);
      for (int64_t i = 0; i < task.columns; ++i) {
        const Carry own = sums[i];
        sums[i] += carried<T, Carry>(from[at + i]);
        const Carry sum = exclusive_ ? own : sums[i];
        to[at + i] = settled<T, Carry>(before == nullptr ? sum : before[i] + sum);
      }
    }
  }

  ThreadPool& pool_;
  AxisView view_;
  bool exclusive_, reverse_;
  int64_t columns_, panels_, length_, chunks_, tasks_; // of a task; of a row; places of a chunk; of a row
  uint32_t parts_;
  std::vector<Carry> totals_; // [outer, chunk, inner], where there is more than one chunk
};

} // namespace

std::unique_ptr<CpuKernel> makeCumSumKernel(const ops::CumSum& op, OperandTypes operands, ThreadPool& pool) {
  const Shape& shape = operands[0].shape;
  switch (operands[0].element) {
  case ElementType::F32: return std::make_unique<CumSumKernel<float, double>>(op, shape, pool);
  case ElementType::F64: return std::make_unique<CumSumKernel<double, double>>(op, shape, pool);
  case ElementType::F16: return std::make_unique<CumSumKernel<Half, double>>(op, shape, pool);
  case ElementType::BF16: return std::make_unique<CumSumKernel<BFloat16, double>>(op, shape, pool);
  case ElementType::I32: return std::make_unique<CumSumKernel<int32_t, uint64_t>>(op, shape, pool);
  case ElementType::I64: return std::make_unique<CumSumKernel<int64_t, uint64_t>>(op, shape, pool);
  case ElementType::U8: return std::make_unique<CumSumKernel<uint8_t, uint64_t>>(op, shape, pool);
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("cumSum of bool");
}

} // namespace dfc
