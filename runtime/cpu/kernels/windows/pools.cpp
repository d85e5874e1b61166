#include "runtime/cpu/kernels/windows/pools.h"

#include "ir/assert.h"
#include "ir/windows.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/windows/plane_rows.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

// A pool, result row by result row: `Fold` starts a row of sums or maxima, adds one place of the windows of
// the row to it, and finishes it.
template <class T, class Fold>
class PoolKernel final : public CpuKernel {
 public:
  PoolKernel(Fold fold, const Windows& windows, const TensorType& image, int64_t planes, ThreadPool& pool)
      : pool_(pool), fold_(std::move(fold)), windows_(windows), from_(image.element, windows.columns.length),
        to_(image.element, windows.columns.count), units_(planes * windows.rows.count),
        parts_(partCount(pool, units_,
                         static_cast<double>(units_) * static_cast<double>(windows.columns.count) *
                             static_cast<double>(windows.size()) / 2)) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const UnitRange range = unitsOfPart(units_, parts_, part);
      for (int64_t unit = range.begin; unit < range.end; ++unit) {
        foldRow(operands[0], results[0], unit);
      }
    });
  }

 private:
  using Carry = typename Fold::Carry;

  void foldRow(const std::byte* from, std::byte* to, int64_t unit) {
    const int64_t plane = unit / windows_.rows.count, row = unit % windows_.rows.count;
    const WindowAxis& columns = windows_.columns;
    const auto count = static_cast<size_t>(columns.count), length = static_cast<size_t>(columns.length);
    auto* carry = reinterpret_cast<Carry*>(
        threadScratch(count * (sizeof(Carry) + sizeof(T)) + length * sizeof(T) + 64));
    auto* lanes = reinterpret_cast<T*>(carry + count);
    T* room = lanes + count;
    fold_.start(carry, columns.count);
    const WindowAxis::Range places = windows_.rows.placesOf(row);
    for (int64_t i = places.begin; i < places.end; ++i) {
      const T* source = from_.read(from, plane * windows_.rows.length + windows_.rows.at(row, i), room);
      for (int64_t j = 0; j < columns.size; ++j) {
        const WindowAxis::Range range = columns.windowsAt(j);
        if (range.begin < range.end) {
          fold_.add(carry + range.begin, source + columns.at(range.begin, j), columns.stride,
                    range.end - range.begin);
        }
      }
    }
    fold_.finish(carry, lanes, row, columns.count);
    to_.write(lanes, to, unit);
  }

  ThreadPool& pool_;
  Fold fold_;
  Windows windows_;
  LaneRows<T> from_, to_;
  int64_t units_; // rows of the result
  uint32_t parts_;
};

template <class T>
struct MaxFold {
  using Carry = T;
  static void start(T* carry, int64_t count) { std::fill_n(carry, count, lowest<T>()); }
  static void add(T* carry, const T* source, int64_t stride, int64_t count) {
    if (stride == 1) { // a loop of its own, for the vectors
      for (int64_t k = 0; k < count; ++k) {
        carry[k] = beats(source[k], carry[k]) ? source[k] : carry[k];
      }
      return;
    }
    for (int64_t k = 0; k < count; ++k) {
      const T next = source[k * stride];
      carry[k] = beats(next, carry[k]) ? next : carry[k];
    }
  }
  static void finish(const T* carry, T* lanes, int64_t, int64_t count) { std::copy_n(carry, count, lanes); }
};

// How many elements the mean of window (row, column) is taken of: the product of the two axes' numbers.
class Divisors {
 public:
  Divisors(const Windows& windows, bool countPadding)
      : rows_(of(windows.rows, countPadding)), columns_(of(windows.columns, countPadding)) {}
  double at(int64_t row, int64_t column) const {
    return rows_[static_cast<size_t>(row)] * columns_[static_cast<size_t>(column)];
  }

 private:
  static std::vector<double> of(const WindowAxis& axis, bool countPadding) {
    std::vector<double> counts;
    for (int64_t window = 0; window < axis.count; ++window) {
      const WindowAxis::Range places = axis.placesOf(window);
      counts.push_back(static_cast<double>(countPadding ? axis.size : places.end - places.begin));
    }
    return counts;
  }
  std::vector<double> rows_, columns_;
};

template <class T>
struct MeanFold {
  using Carry = double;
  Divisors divisors;
  static void start(double* carry, int64_t count) { std::fill_n(carry, count, 0.0); }
  static void add(double* carry, const T* source, int64_t stride, int64_t count) {
    if (stride == 1) {
      for (int64_t k = 0; k < count; ++k) {
        carry[k] += static_cast<double>(source[k]);
      }
      return;
    }
    for (int64_t k = 0; k < count; ++k) {
      carry[k] += static_cast<double>(source[k * stride]);
    }
  }
  void finish(const double* carry, T* lanes, int64_t row, int64_t count) const {
    for (int64_t k = 0; k < count; ++k) {
      lanes[k] = static_cast<T>(carry[k] / divisors.at(row, k));
    }
  }
};

template <class T>
std::unique_ptr<CpuKernel> makeMax(const Windows& windows, const TensorType& image, ThreadPool& pool) {
  const int64_t planes = image.shape[0] * image.shape[1];
  return std::make_unique<PoolKernel<T, MaxFold<T>>>(MaxFold<T>{}, windows, image, planes, pool);
}

template <class T>
std::unique_ptr<CpuKernel> makeMean(const Windows& windows, bool countPadding, const TensorType& image,
                                    ThreadPool& pool) {
  const int64_t planes = image.shape[0] * image.shape[1];
  return std::make_unique<PoolKernel<T, MeanFold<T>>>(MeanFold<T>{Divisors(windows, countPadding)}, windows,
                                                      image, planes, pool);
}

template <class Op>
Op overPlane() {
  Op op;
  op.axes = {2, 3};
  op.keepDims = true;
  return op;
}

} // namespace

std::unique_ptr<CpuKernel> makeMaxPoolKernel(const ops::MaxPool& op, OperandTypes operands,
                                             OperandTypes results, ThreadPool& pool) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return makeReductionKernel(overPlane<ops::ReduceMax>(), operands, results, pool);
  }
  switch (image.element) {
  case ElementType::F32:
  case ElementType::F16:
  case ElementType::BF16: return makeMax<float>(windows, image, pool);
  case ElementType::F64: return makeMax<double>(windows, image, pool);
  case ElementType::I32: return makeMax<int32_t>(windows, image, pool);
  case ElementType::I64: return makeMax<int64_t>(windows, image, pool);
  case ElementType::U8: return makeMax<uint8_t>(windows, image, pool);
  case ElementType::Bool: break;
  }
  DFC_UNREACHABLE("maxPool of bool");
}

std::unique_ptr<CpuKernel> makeAveragePoolKernel(const ops::AveragePool& op, OperandTypes operands,
                                                 OperandTypes results, ThreadPool& pool) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return makeReductionKernel(overPlane<ops::ReduceMean>(), operands, results, pool);
  }
  return image.element == ElementType::F64 ? makeMean<double>(windows, op.countPadding, image, pool)
                                           : makeMean<float>(windows, op.countPadding, image, pool);
}

} // namespace dfc
