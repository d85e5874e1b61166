// Gradients of pools: each plane's sums are carried in f64, window after window in row-major order.
#include "ir/windows.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/windows/plane_rows.h"
#include "runtime/cpu/kernels/windows/pools.h"

#include <algorithm>
#include <vector>

namespace dfc {
namespace {

// What the two gradients share: planes as units, rows of the sums and of the cotangents.
template <class T>
class PlaneGradient : public CpuKernel {
 public:
  PlaneGradient(const Windows& windows, const TensorType& image, ThreadPool& pool)
      : windows_(windows), image_(image.element, windows.columns.length),
        cotangents_(image.element, windows.columns.count), pool_(pool),
        planes_(image.shape[0] * image.shape[1]),
        parts_(partCount(pool, planes_,
                         static_cast<double>(planes_ * windows.rows.count) *
                             static_cast<double>(windows.columns.count) *
                             static_cast<double>(windows.size()))) {}

 protected:
  /// The plane's sums, zeros to begin with, and room for a row of the image and of cotangents. `add` adds to
  /// them; then they are written to the plane of `result`.
  template <class Add>
  void forEachPlane(std::byte* result, Add add) {
    const auto length = static_cast<size_t>(windows_.columns.length);
    const auto elements = static_cast<size_t>(windows_.rows.length) * length;
    const auto count = static_cast<size_t>(windows_.columns.count);
    pool_.run(parts_, [&](uint32_t part) {
      const UnitRange planes = unitsOfPart(planes_, parts_, part);
      for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
        auto* sums = reinterpret_cast<double*>(threadScratch((elements + count) * sizeof(double) +
                                                             (length + 2 * count) * sizeof(T) +
                                                             count * sizeof(int64_t)));
        auto* shares = sums + elements;
        auto* at = reinterpret_cast<int64_t*>(shares + count);
        auto* row = reinterpret_cast<T*>(at + count);
        std::fill_n(sums, elements, 0.0);
        add(plane, Room{sums, shares, at, row, row + length, row + length + count});
        for (int64_t y = 0; y < windows_.rows.length; ++y) {
          const double* from = sums + y * windows_.columns.length;
          std::transform(from, from + length, row, [](double sum) { return static_cast<T>(sum); });
          image_.write(row, result, plane * windows_.rows.length + y);
        }
      }
    });
  }

  struct Room {
    double *sums, *shares;
    int64_t* at;               ///< for each window of a row
    T *row, *best, *cotangent; ///< a row of the image; of the windows; of the cotangents
  };

  Windows windows_;
  LaneRows<T> image_, cotangents_;

 private:
  ThreadPool& pool_;
  int64_t planes_;
  uint32_t parts_;
};

template <class T>
class MaxPoolGradientKernel final : public PlaneGradient<T> {
 public:
  using PlaneGradient<T>::PlaneGradient;

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    this->forEachPlane(results[0], [&](int64_t plane, const Room& room) {
      const int64_t rows = this->windows_.rows.count, count = this->windows_.columns.count;
      for (int64_t row = 0; row < rows; ++row) {
        findLargest(operands[0], plane, row, room);
        const T* cotangent = this->cotangents_.read(operands[1], plane * rows + row, room.cotangent);
        for (int64_t k = 0; k < count; ++k) {
          room.sums[room.at[k]] += static_cast<double>(cotangent[k]);
        }
      }
    });
  }

 private:
  using Room = typename PlaneGradient<T>::Room;

  // room.at: where in the plane each window of the row has its first largest element.
  void findLargest(const std::byte* image, int64_t plane, int64_t row, const Room& room) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    std::fill_n(room.at, columns.count, -1);
    const WindowAxis::Range places = rows.placesOf(row);
    for (int64_t i = places.begin; i < places.end; ++i) {
      const int64_t y = rows.at(row, i);
      const T* source = this->image_.read(image, plane * rows.length + y, room.row);
      for (int64_t j = 0; j < columns.size; ++j) {
        const WindowAxis::Range range = columns.windowsAt(j);
        for (int64_t k = range.begin; k < range.end; ++k) {
          const int64_t x = columns.at(k, j);
          const bool better = room.at[k] < 0 || beats(source[x], room.best[k]);
          room.best[k] = better ? source[x] : room.best[k];
          room.at[k] = better ? y * columns.length + x : room.at[k];
        }
      }
    }
  }
};

template <class T>
class AveragePoolGradientKernel final : public PlaneGradient<T> {
 public:
  AveragePoolGradientKernel(const Windows& windows, bool countPadding, const TensorType& image,
                            ThreadPool& pool)
      : PlaneGradient<T>(windows, image, pool), countPadding_(countPadding) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    this->forEachPlane(results[0], [&](int64_t plane, const Room& room) {
      for (int64_t row = 0; row < this->windows_.rows.count; ++row) {
        findShares(operands[0], plane, row, room);
        addShares(row, room);
      }
    });
  }

 private:
  using Room = typename PlaneGradient<T>::Room;

  void findShares(const std::byte* cotangents, int64_t plane, int64_t row, const Room& room) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    const WindowAxis::Range places = rows.placesOf(row);
    const int64_t down = countPadding_ ? rows.size : places.end - places.begin;
    const T* cotangent = this->cotangents_.read(cotangents, plane * rows.count + row, room.cotangent);
    for (int64_t k = 0; k < columns.count; ++k) {
      const WindowAxis::Range along = columns.placesOf(k);
      const int64_t across = countPadding_ ? columns.size : along.end - along.begin;
      room.shares[k] = static_cast<double>(cotangent[k]) / static_cast<double>(down * across);
    }
  }

  void addShares(int64_t row, const Room& room) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    const WindowAxis::Range places = rows.placesOf(row);
    for (int64_t i = places.begin; i < places.end; ++i) {
      double* sums = room.sums + rows.at(row, i) * columns.length;
      for (int64_t j = 0; j < columns.size; ++j) {
        const WindowAxis::Range range = columns.windowsAt(j);
        for (int64_t k = range.begin; k < range.end; ++k) {
          sums[columns.at(k, j)] += room.shares[k];
        }
      }
    }
  }

  bool countPadding_;
};

} // namespace

std::unique_ptr<CpuKernel> makeMaxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands,
                                                     ThreadPool& pool) {
  const Windows windows = windowsOf(operands[0].shape, windowAttributes(op));
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<MaxPoolGradientKernel<double>>(windows, operands[0], pool);
  }
  return std::make_unique<MaxPoolGradientKernel<float>>(windows, operands[0], pool);
}

std::unique_ptr<CpuKernel> makeAveragePoolGradientKernel(const ops::AveragePoolGradient& op,
                                                         OperandTypes results, ThreadPool& pool) {
  const Windows windows = windowsOf(results[0].shape, windowAttributes(op));
  if (results[0].element == ElementType::F64) {
    return std::make_unique<AveragePoolGradientKernel<double>>(windows, op.countPadding, results[0], pool);
  }
  return std::make_unique<AveragePoolGradientKernel<float>>(windows, op.countPadding, results[0], pool);
}

} // namespace dfc
