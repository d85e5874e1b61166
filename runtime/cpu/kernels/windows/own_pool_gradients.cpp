// Gradients of pools: each plane's sums are carried in f64, window after window in row-major order.
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/windows/own_pools.h"
#include "runtime/cpu/kernels/windows/plane_rows.h"

#include <algorithm>
#include <vector>

namespace dfc {
namespace {

// Shared by the two gradients: a plane is a task; rows of sums and of cotangents.
template <class T>
class PlaneGradient : public OwnPool {
 public:
  PlaneGradient(const Windows& windows, const TensorType& image, ThreadPool& pool)
      : windows_(windows), image_(image.element, windows.columns.length),
        cotangents_(image.element, windows.columns.count), pool_(pool),
        planes_(image.shape[0] * image.shape[1]),
        parts_(partCount(pool, planes_,
                         static_cast<double>(planes_ * windows.rows.count) *
                             static_cast<double>(windows.columns.count) *
                             static_cast<double>(windows.size()))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange planes = tasksOfPart(planes_, parts_, part);
      for (int64_t plane = planes.begin; plane < planes.end; ++plane) {
        runPlane(operands, results[0], plane);
      }
    });
  }

  void runPlane(llvm::ArrayRef<const std::byte*> operands, std::byte* result, int64_t plane) override {
    const auto length = static_cast<size_t>(windows_.columns.length);
    const auto elements = static_cast<size_t>(windows_.rows.length) * length;
    const auto count = static_cast<size_t>(windows_.columns.count);
    auto* sums = reinterpret_cast<double*>(threadScratch(
        (elements + count) * sizeof(double) + (length + 2 * count) * sizeof(T) + count * sizeof(int64_t)));
    auto* shares = sums + elements;
    auto* at = reinterpret_cast<int64_t*>(shares + count);
    auto* row = reinterpret_cast<T*>(at + count);
    std::fill_n(sums, elements, 0.0);
    addPlane(operands, plane, Scratch{sums, shares, at, row, row + length, row + length + count});
    for (int64_t y = 0; y < windows_.rows.length; ++y) {
      const double* from = sums + y * windows_.columns.length;
      std::transform(from, from + length, row, [](double sum) { return static_cast<T>(sum); });
      image_.write(row, result, plane * windows_.rows.length + y);
    }
  }

 protected:
  struct Scratch {
    double *sums, *shares;
    int64_t* at;               ///< for each window of a row
    T *row, *best, *cotangent; ///< a row of the image; of the windows; of the cotangents
  };

  /// Adds to the plane's sums, which are zeros to begin with.
  virtual void addPlane(llvm::ArrayRef<const std::byte*> operands, int64_t plane,
                        const Scratch& scratch) const = 0;

  Windows windows_;
  PlaneRows<T> image_, cotangents_;

 private:
  ThreadPool& pool_;
  int64_t planes_;
  uint32_t parts_;
};

template <class T>
class MaxPoolGradient final : public PlaneGradient<T> {
 public:
  using PlaneGradient<T>::PlaneGradient;

 private:
  using Scratch = typename PlaneGradient<T>::Scratch;

  void addPlane(llvm::ArrayRef<const std::byte*> operands, int64_t plane,
                const Scratch& scratch) const override {
    const int64_t rows = this->windows_.rows.count, count = this->windows_.columns.count;
    for (int64_t row = 0; row < rows; ++row) {
      findLargest(operands[0], plane, row, scratch);
      const T* cotangent = this->cotangents_.read(operands[1], plane * rows + row, scratch.cotangent);
      for (int64_t k = 0; k < count; ++k) {
        scratch.sums[scratch.at[k]] += static_cast<double>(cotangent[k]);
      }
    }
  }

  // scratch.at: where in the plane each window of the row has its first largest element.
  void findLargest(const std::byte* image, int64_t plane, int64_t row, const Scratch& scratch) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    std::fill_n(scratch.at, columns.count, -1);
    const WindowAxis::Range places = rows.placesOf(row);
    for (int64_t i = places.begin; i < places.end; ++i) {
      const int64_t y = rows.at(row, i);
      const T* source = this->image_.read(image, plane * rows.length + y, scratch.row);
      for (int64_t j = 0; j < columns.size; ++j) {
        const WindowAxis::Range range = columns.windowsAt(j);
        for (int64_t k = range.begin; k < range.end; ++k) {
          const int64_t x = columns.at(k, j);
          const bool better = scratch.at[k] < 0 || beats(source[x], scratch.best[k]);
          scratch.best[k] = better ? source[x] : scratch.best[k];
          scratch.at[k] = better ? y * columns.length + x : scratch.at[k];
        }
      }
    }
  }
};

template <class T>
class AveragePoolGradient final : public PlaneGradient<T> {
 public:
  AveragePoolGradient(const Windows& windows, bool countPadding, const TensorType& image, ThreadPool& pool)
      : PlaneGradient<T>(windows, image, pool), countPadding_(countPadding) {}

 private:
  using Scratch = typename PlaneGradient<T>::Scratch;

  void addPlane(llvm::ArrayRef<const std::byte*> operands, int64_t plane,
                const Scratch& scratch) const override {
    for (int64_t row = 0; row < this->windows_.rows.count; ++row) {
      findShares(operands[0], plane, row, scratch);
      addShares(row, scratch);
    }
  }

  void findShares(const std::byte* cotangents, int64_t plane, int64_t row, const Scratch& scratch) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    const WindowAxis::Range places = rows.placesOf(row);
    const int64_t down = countPadding_ ? rows.size : places.end - places.begin;
    const T* cotangent = this->cotangents_.read(cotangents, plane * rows.count + row, scratch.cotangent);
    for (int64_t k = 0; k < columns.count; ++k) {
      const WindowAxis::Range along = columns.placesOf(k);
      const int64_t across = countPadding_ ? columns.size : along.end - along.begin;
      scratch.shares[k] = static_cast<double>(cotangent[k]) / static_cast<double>(down * across);
    }
  }

  void addShares(int64_t row, const Scratch& scratch) const {
    const WindowAxis &rows = this->windows_.rows, &columns = this->windows_.columns;
    const WindowAxis::Range places = rows.placesOf(row);
    for (int64_t i = places.begin; i < places.end; ++i) {
      double* sums = scratch.sums + rows.at(row, i) * columns.length;
      for (int64_t j = 0; j < columns.size; ++j) {
        const WindowAxis::Range range = columns.windowsAt(j);
        for (int64_t k = range.begin; k < range.end; ++k) {
          sums[columns.at(k, j)] += scratch.shares[k];
        }
      }
    }
  }

  bool countPadding_;
};

} // namespace

std::unique_ptr<OwnPool> makeOwnMaxPoolGradient(const Windows& windows, const TensorType& image,
                                                ThreadPool& pool) {
  if (image.element == ElementType::F64) {
    return std::make_unique<MaxPoolGradient<double>>(windows, image, pool);
  }
  return std::make_unique<MaxPoolGradient<float>>(windows, image, pool);
}

std::unique_ptr<OwnPool> makeOwnAveragePoolGradient(const Windows& windows, bool countPadding,
                                                    const TensorType& image, ThreadPool& pool) {
  if (image.element == ElementType::F64) {
    return std::make_unique<AveragePoolGradient<double>>(windows, countPadding, image, pool);
  }
  return std::make_unique<AveragePoolGradient<float>>(windows, countPadding, image, pool);
}

} // namespace dfc
