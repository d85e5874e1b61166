// softmax and logSoftmax along any axis. Rows whose elements lie apart are gathered a few neighbours at a
// time, so that a cache line serves several of them.
#include "runtime/cpu/kernels/rows/rows.h"

#include "runtime/cpu/kernels/rows/axis_view.h"
#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <cstring>

namespace dfc {
namespace {

template <class T>
void copyStrided(const T* from, int64_t fromStride, T* to, int64_t toStride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i * toStride] = from[i * fromStride];
  }
}

// Lanes T (float or double), storage Stored (the same, or 16 bits that `widen` and `narrow` convert).
template <class T, class Stored>
class SoftmaxKernel final : public CpuKernel {
 public:
  SoftmaxKernel(const AxisView& view, bool logarithm, ElementType type, ThreadPool& pool)
      : pool_(pool), view_(view), logarithm_(logarithm) {
    if (sizeof(T) != sizeof(Stored)) {
      widen_ = widenTile(type);
      narrow_ = narrowTile(type);
    }
    constexpr int64_t neighbours = 16;
    constexpr int64_t groupElements = 64 * 1024;
    group_ = std::clamp<int64_t>(groupElements / std::max<int64_t>(view.length, 1), 1,
                                 std::min(neighbours, std::max<int64_t>(view.inner, 1)));
    groups_ = (view.inner + group_ - 1) / group_;
    const double nanoseconds = 2.0 * static_cast<double>(view.rows() * view.length);
    parts_ = partCount(pool, view.outer * groups_, nanoseconds);
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (view_.rows() * view_.length == 0) {
      return;
    }
    const auto* from = reinterpret_cast<const Stored*>(operands[0]);
    auto* to = reinterpret_cast<Stored*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const UnitRange units = unitsOfPart(view_.outer * groups_, parts_, part);
      for (int64_t unit = units.begin; unit < units.end; ++unit) {
        const int64_t column = unit % groups_ * group_;
        const int64_t at = unit / groups_ * view_.length * view_.inner + column;
        runGroup(from + at, to + at, std::min(group_, view_.inner - column));
      }
    });
  }

 private:
  // `rows` rows whose first elements are neighbours.
  void runGroup(const Stored* from, Stored* to, int64_t rows) {
    const int64_t length = view_.length;
    const auto elements = static_cast<size_t>(group_ * length);
    auto* lanes = reinterpret_cast<T*>(threadScratch(elements * (sizeof(T) + sizeof(Stored)) + 64));
    auto* stored = reinterpret_cast<Stored*>(lanes + elements);
    const bool half = widen_ != nullptr;
    if constexpr (std::is_same_v<T, Stored>) {
      stored = lanes;
    }
    gather(from, stored, rows);
    if (half) {
      const void* inputs[1] = {stored};
      widen_(inputs, lanes, static_cast<size_t>(rows * length));
    }
    for (int64_t row = 0; row < rows; ++row) {
      computeRow(lanes + row * length);
    }
    if (half) {
      const void* inputs[1] = {lanes};
      narrow_(inputs, stored, static_cast<size_t>(rows * length));
    }
    scatter(stored, to, rows);
  }

  void gather(const Stored* from, Stored* to, int64_t rows) const {
    for (int64_t i = 0; i < view_.length && rows > 1; ++i) {
      copyStrided(from + i * view_.inner, 1, to + i, view_.length, rows);
    }
    if (rows == 1) {
      copyStrided(from, view_.inner, to, 1, view_.length);
    }
  }

  void scatter(const Stored* from, Stored* to, int64_t rows) const {
    for (int64_t i = 0; i < view_.length && rows > 1; ++i) {
      copyStrided(from + i, view_.length, to + i * view_.inner, 1, rows);
    }
    if (rows == 1) {
      copyStrided(from, 1, to, view_.inner, view_.length);
    }
  }

  void computeRow(T* row) const {
    math_.shift(row, view_.length);
    const double sum = math_.sumOfExponentials(row, view_.length, !logarithm_);
    logarithm_ ? math_.subtract(row, view_.length, math_.logarithm(sum))
               : math_.divide(row, view_.length, sum);
  }

  ThreadPool& pool_;
  AxisView view_;
  bool logarithm_;
  RowMath<T> math_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
  int64_t group_, groups_;
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
