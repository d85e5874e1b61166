// softmax and logSoftmax along any axis, a group of rows at a time. Rows along the innermost axis are
// contiguous. Along another axis rows are interleaved: a group takes adjacent rows, which share cache lines;
// where there are enough of them, SIMD vectors hold elements of adjacent rows. oneDNN has only plain loops
// for interleaved rows.
#include "runtime/cpu/kernels/rows/rows.h"

#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/rows/column_math.h"
#include "runtime/cpu/kernels/rows/row_softmax.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>
#include <cstring>

namespace dfc {
namespace {

// Computes in T (float or double); storage is Stored (the same, or 16 bits).
template <class T, class Stored>
class SoftmaxKernel final : public CpuKernel {
 public:
  SoftmaxKernel(const AxisView& view, bool logarithm, ElementType type, ThreadPool& pool)
      : pool_(pool), view_(view), logarithm_(logarithm), sideBySide_(view.inner >= lineOfNeighbours),
        converter_(type), softmax_(view.length, logarithm) {
    perLine_ = view.inner == 1 ? view.outer : view.inner;
    group_ = groupOf(view, sideBySide_);
    groups_ = (perLine_ + group_ - 1) / group_;
    tasks_ = view.inner == 1 ? groups_ : view.outer * groups_;
    parts_ = partCount(pool, tasks_, 2.0 * static_cast<double>(view.rows() * view.length));
    if (!sideBySide_ && view.rows() * view.length > 0) {
      softmax_.prepare(group_, parts_);
      softmax_.prepare(perLine_ - (groups_ - 1) * group_, parts_);
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (view_.rows() * view_.length == 0) {
      return;
    }
    const auto* from = reinterpret_cast<const Stored*>(operands[0]);
    auto* to = reinterpret_cast<Stored*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        const int64_t row = task % groups_ * group_;
        const int64_t first =
            view_.inner == 1 ? row * view_.length : task / groups_ * view_.length * view_.inner + row;
        const int64_t rows = std::min(group_, perLine_ - row);
        if (sideBySide_) {
          runSideBySide(from + first, to + first, rows);
        } else {
          runRows(part, from + first, to + first, rows);
        }
      }
    });
  }

 private:
  static constexpr int64_t lineOfNeighbours = 16;

  // Rows of a group: as many as stay in a cache and pay for a call. Interleaved: as many as make each step
  // along them pay for a call, while the group stays in L2.
  static int64_t groupOf(const AxisView& view, bool sideBySide) {
    constexpr int64_t elements = 65536 / sizeof(T), elementsSideBySide = 1 << 17, mostSideBySide = 256;
    const int64_t length = std::max<int64_t>(view.length, 1);
    if (sideBySide) {
      const int64_t lines = std::min(elementsSideBySide / length, mostSideBySide) / lineOfNeighbours;
      return std::min(std::max<int64_t>(lines, 1) * lineOfNeighbours, view.inner);
    }
    const int64_t all = view.inner == 1 ? view.outer : view.inner;
    return std::clamp<int64_t>(elements / length, std::min(view.inner, lineOfNeighbours),
                               std::max<int64_t>(all, 1));
  }

  // Interleaved where inner > 1, else contiguous.
  void runRows(uint32_t part, const Stored* from, Stored* to, int64_t rows) {
    const auto count = static_cast<size_t>(rows * view_.length);
    const size_t ofSoftmax = (softmax_.scratchBytes(rows) + 63) / 64 * 64;
    if constexpr (std::is_same_v<T, Stored>) {
      if (view_.inner == 1) {
        return softmax_.run(part, from, to, rows, threadScratch(ofSoftmax));
      }
    }
    std::byte* const scratch = threadScratch(ofSoftmax + count * (sizeof(T) + sizeof(Stored)));
    T* const values = reinterpret_cast<T*>(scratch + ofSoftmax);
    Stored* const stored = storedOf(values, count);
    gather(from, stored, rows);
    converter_.read(reinterpret_cast<const std::byte*>(stored), rows * view_.length, values);
    softmax_.run(part, values, values, rows, scratch);
    converter_.write(values, reinterpret_cast<std::byte*>(stored), rows * view_.length);
    scatter(stored, to, rows);
  }

  void runSideBySide(const Stored* from, Stored* to, int64_t rows) {
    const auto count = static_cast<size_t>(rows * view_.length), totals = static_cast<size_t>(rows);
    auto* sums = reinterpret_cast<double*>(threadScratch(
        2 * totals * sizeof(double) + (totals + 2 * count) * sizeof(T) + count * sizeof(Stored)));
    T* const ofRows = reinterpret_cast<T*>(sums + 2 * totals);
    T* const apart = ofRows + totals; // exponentials of which only the sums are used
    T* const values = apart + count;
    Stored* const stored = storedOf(values, count);
    gather(from, stored, rows);
    converter_.read(reinterpret_cast<const std::byte*>(stored), rows * view_.length, values);
    compute(values, apart, {ofRows, sums}, rows);
    converter_.write(values, reinterpret_cast<std::byte*>(stored), rows * view_.length);
    scatter(stored, to, rows);
  }

  // Elements in their storage type: behind those in the compute type, or the same ones.
  static Stored* storedOf(T* values, size_t count) {
    if constexpr (std::is_same_v<T, Stored>) {
      return values;
    } else {
      return reinterpret_cast<Stored*>(values + count);
    }
  }

  void gather(const Stored* from, Stored* to, int64_t rows) const {
    if (view_.inner == 1) {
      std::memcpy(to, from, static_cast<size_t>(rows * view_.length) * sizeof(Stored));
      return;
    }
    if (sideBySide_) {
      for (int64_t i = 0; i < view_.length; ++i) {
        std::memcpy(to + i * rows, from + i * view_.inner, static_cast<size_t>(rows) * sizeof(Stored));
      }
      return;
    }
    for (int64_t i = 0; i < view_.length; ++i) {
      for (int64_t row = 0; row < rows; ++row) {
        to[row * view_.length + i] = from[i * view_.inner + row];
      }
    }
  }

  void scatter(const Stored* from, Stored* to, int64_t rows) const {
    if (view_.inner == 1) {
      std::memcpy(to, from, static_cast<size_t>(rows * view_.length) * sizeof(Stored));
      return;
    }
    if (sideBySide_) {
      for (int64_t i = 0; i < view_.length; ++i) {
        std::memcpy(to + i * view_.inner, from + i * rows, static_cast<size_t>(rows) * sizeof(Stored));
      }
      return;
    }
    for (int64_t i = 0; i < view_.length; ++i) {
      for (int64_t row = 0; row < rows; ++row) {
        to[i * view_.inner + row] = from[row * view_.length + i];
      }
    }
  }

  struct OfRows {
    T* values;
    double* sums; ///< and scratch of the same size
  };

  void compute(T* values, T* apart, OfRows of, int64_t rows) const {
    const int64_t length = view_.length;
    columns_.largest(values, length, rows, of.values);
    columns_.subtract(values, length, rows, of.values);
    T* exponentials = logarithm_ ? apart : values;
    math_.exponentials(values, exponentials, rows * length);
    columns_.sums(exponentials, length, rows, of.sums, of.sums + rows);
    if (logarithm_) {
      math_.logarithms(of.sums, rows);
    }
    std::transform(of.sums, of.sums + rows, of.values, [](double sum) { return static_cast<T>(sum); });
    if (logarithm_) {
      columns_.subtract(values, length, rows, of.values);
    } else {
      columns_.divide(values, length, rows, of.values);
    }
  }

  ThreadPool& pool_;
  AxisView view_;
  bool logarithm_, sideBySide_;
  StorageConverter<T> converter_;
  RowSoftmax<T> softmax_; // of contiguous rows
  RowMath<T> math_;
  ColumnMath<T> columns_;
  int64_t perLine_, group_, groups_, tasks_; // rows that may be grouped; of a group; groups; groups in all
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeSoftmaxKernel(int64_t axis, bool logarithm, const TensorType& type,
                                             ThreadPool& pool) {
  const AxisView view(type.shape, axis);
  if (type.element == ElementType::F64) {
    return std::make_unique<SoftmaxKernel<double, double>>(view, logarithm, type.element, pool);
  }
  if (type.element == ElementType::F32) {
    return std::make_unique<SoftmaxKernel<float, float>>(view, logarithm, type.element, pool);
  }
  return std::make_unique<SoftmaxKernel<float, uint16_t>>(view, logarithm, type.element, pool);
}

} // namespace dfc
