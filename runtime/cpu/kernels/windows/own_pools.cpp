#include "runtime/cpu/kernels/windows/own_pools.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/windows/plane_rows.h"
#include "runtime/cpu/kernels/windows/window_reductions.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

template <class T>
constexpr T lowest() {
  return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                              : std::numeric_limits<T>::lowest();
}

// The windows of a row that hold no padding, if there are such.
WindowAxis::Range unpaddedOf(const WindowAxis& axis) {
  const WindowAxis::Range range{axis.windowsAt(0).begin, axis.windowsAt(axis.size - 1).end};
  return range.begin < range.end ? range : WindowAxis::Range{};
}

// A pool, result row by result row. `Reduction` reduces the windows without padding side by side, all their
// elements at once, and each other window element by element; then it finishes the row.
template <class T, class Reduction>
class RowPool final : public OwnPool {
 public:
  RowPool(Reduction reduction, const Windows& windows, const TensorType& image, int64_t planes,
          ThreadPool& pool)
      : pool_(pool), reduction_(std::move(reduction)), windows_(windows),
        unpadded_(unpaddedOf(windows.columns)), from_(image.element, windows.columns.length),
        to_(image.element, windows.columns.count), tasks_(planes * windows.rows.count),
        parts_(partCount(pool, tasks_,
                         static_cast<double>(tasks_) * static_cast<double>(windows.columns.count) *
                             static_cast<double>(windows.size()) / 8)) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange range = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = range.begin; task < range.end; ++task) {
        poolRow(operands[0], results[0], task);
      }
    });
  }

  void runPlane(llvm::ArrayRef<const std::byte*> operands, std::byte* result, int64_t plane) override {
    for (int64_t row = 0; row < windows_.rows.count; ++row) {
      poolRow(operands[0], result, plane * windows_.rows.count + row);
    }
  }

 private:
  using Carry = typename Reduction::Carry;

  /// Working memory for a row of the result.
  struct Scratch {
    const T **places, **rows; ///< of a window; of the image, for those of `places`
    Carry* carry;
    T *values, *widened; ///< a row of the result; rows of the image
  };

  Scratch scratch() const {
    const auto count = static_cast<size_t>(windows_.columns.count);
    const auto rows = static_cast<size_t>(std::min(windows_.rows.size, windows_.rows.length));
    const auto places =
        unpadded_.begin == unpadded_.end ? 0 : rows * static_cast<size_t>(windows_.columns.size);
    const size_t image = from_.inPlace() ? 0 : rows * static_cast<size_t>(windows_.columns.length);
    auto* pointers = reinterpret_cast<const T**>(threadScratch(
        (places + rows) * sizeof(const T*) + count * (sizeof(Carry) + sizeof(T)) + image * sizeof(T)));
    auto* carry = reinterpret_cast<Carry*>(pointers + places + rows);
    auto* values = reinterpret_cast<T*>(carry + count);
    return {pointers, pointers + places, carry, values, values + count};
  }

  void poolRow(const std::byte* from, std::byte* to, int64_t task) {
    const int64_t plane = task / windows_.rows.count, row = task % windows_.rows.count;
    const Scratch scratch = this->scratch();
    const WindowAxis::Range down = windows_.rows.placesOf(row);
    for (int64_t i = down.begin; i < down.end; ++i) {
      scratch.rows[i - down.begin] = from_.read(from, plane * windows_.rows.length + windows_.rows.at(row, i),
                                                scratch.widened + (i - down.begin) * windows_.columns.length);
    }
    const llvm::ArrayRef<const T*> rows(scratch.rows, static_cast<size_t>(down.end - down.begin));
    T* const values = to_.place(to, task, scratch.values);
    Carry* const carry = Reduction::carryOf(scratch.carry, values);
    reduceUnpadded(rows, scratch.places, carry);
    reducePadded(rows, {0, unpadded_.begin}, carry);
    reducePadded(rows, {unpadded_.end, windows_.columns.count}, carry);
    reduction_.finish(carry, values, row, windows_.columns.count);
    to_.write(values, to, task);
  }

  void reduceUnpadded(llvm::ArrayRef<const T*> rows, const T** places, Carry* carry) const {
    // Without such windows `places` is empty: a padded window may have more elements than memory can list.
    if (unpadded_.begin == unpadded_.end) {
      return;
    }
    const WindowAxis& columns = windows_.columns;
    size_t size = 0;
    for (const T* row : rows) {
      for (int64_t j = 0; j < columns.size; ++j) {
        places[size++] = row + columns.at(unpadded_.begin, j);
      }
    }
    reduction_.all(carry + unpadded_.begin, {places, size, static_cast<size_t>(columns.stride),
                                             static_cast<size_t>(unpadded_.end - unpadded_.begin)});
  }

  void reducePadded(llvm::ArrayRef<const T*> rows, WindowAxis::Range windows, Carry* carry) const {
    const WindowAxis& columns = windows_.columns;
    for (int64_t k = windows.begin; k < windows.end; ++k) {
      const WindowAxis::Range along = columns.placesOf(k);
      carry[k] = Reduction::start();
      for (const T* row : rows) {
        for (int64_t j = along.begin; j < along.end; ++j) {
          Reduction::add(carry[k], row[columns.at(k, j)]);
        }
      }
    }
  }

  ThreadPool& pool_;
  Reduction reduction_;
  Windows windows_;
  WindowAxis::Range unpadded_; // of the windows of a row
  PlaneRows<T> from_, to_;
  int64_t tasks_; // rows of the result
  uint32_t parts_;
};

template <class T>
struct MaxPooling {
  using Carry = T;
  static T* carryOf(T*, T* values) { return values; } // the maxima are the row
  WindowMax<T> largest = windowMax<T>();
  static T start() { return lowest<T>(); }
  static void add(T& best, T next) { best = beats(next, best) ? next : best; }
  void all(T* result, const WindowElements<T>& elements) const { largest(result, elements, lowest<T>()); }
  static void finish(const T*, T*, int64_t, int64_t) {}
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
struct MeanPooling {
  using Carry = double;
  Divisors divisors;
  static double* carryOf(double* sums, T*) { return sums; }
  WindowSum<T> sum = windowSum<T>();
  static double start() { return 0; }
  static void add(double& sum, T next) { sum += static_cast<double>(next); }
  void all(double* result, const WindowElements<T>& elements) const { sum(result, elements); }
  void finish(const double* carry, T* values, int64_t row, int64_t count) const {
    for (int64_t k = 0; k < count; ++k) {
      values[k] = static_cast<T>(carry[k] / divisors.at(row, k));
    }
  }
};

template <class T>
std::unique_ptr<OwnPool> makeMax(const Windows& windows, const TensorType& image, ThreadPool& pool) {
  const int64_t planes = image.shape[0] * image.shape[1];
  return std::make_unique<RowPool<T, MaxPooling<T>>>(MaxPooling<T>{}, windows, image, planes, pool);
}

template <class T>
std::unique_ptr<OwnPool> makeMean(const Windows& windows, bool countPadding, const TensorType& image,
                                  ThreadPool& pool) {
  const int64_t planes = image.shape[0] * image.shape[1];
  return std::make_unique<RowPool<T, MeanPooling<T>>>(MeanPooling<T>{Divisors(windows, countPadding)},
                                                      windows, image, planes, pool);
}

} // namespace

std::unique_ptr<OwnPool> makeOwnMaxPool(const Windows& windows, const TensorType& image, ThreadPool& pool) {
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

std::unique_ptr<OwnPool> makeOwnAveragePool(const Windows& windows, bool countPadding,
                                            const TensorType& image, ThreadPool& pool) {
  return image.element == ElementType::F64 ? makeMean<double>(windows, countPadding, image, pool)
                                           : makeMean<float>(windows, countPadding, image, pool);
}

} // namespace dfc
