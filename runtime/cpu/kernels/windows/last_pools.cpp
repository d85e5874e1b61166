#include "runtime/cpu/kernels/windows/last_pools.h"

#include "ir/graph/rules/layout.h"
#include "ir/graph/rules/windows.h"
#include "runtime/cpu/kernels/elementwise/elementwise.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

/// The elements of a window that are no padding, and the number of all.
struct WindowPlaces {
  WindowAxis::Range rows, columns;
  int64_t row = 0, column = 0; ///< the window
};

/// The largest of a window, channel by channel; of equals the first.
template <class T>
class LargestOfChannels {
 public:
  LargestOfChannels(ElementType type, const Windows& windows)
      : windows_(windows), join_(arithmeticTile(OpKind::Maximum, type)) {}
  static size_t scratchBytes(int64_t) { return 0; }

  void reduce(const T* image, const WindowPlaces& at, int64_t channels, T* result, std::byte*) const {
    bool isFirst = true;
    for (int64_t i = at.rows.begin; i < at.rows.end; ++i) {
      for (int64_t j = at.columns.begin; j < at.columns.end; ++j) {
        const int64_t pixel =
            windows_.rows.at(at.row, i) * windows_.columns.length + windows_.columns.at(at.column, j);
        const T* from = image + pixel * channels;
        if (isFirst) {
          std::copy_n(from, channels, result);
        } else {
          const void* inputs[2] = {result, from};
          join_(inputs, result, static_cast<size_t>(channels));
        }
        isFirst = false;
      }
    }
    if (isFirst) {
      std::fill_n(result, channels, -std::numeric_limits<T>::infinity());
    }
  }

 private:
  Windows windows_;
  TileFunction join_;
};

/// The mean of a window, channel by channel, summed in f64.
template <class T>
class MeanOfChannels {
 public:
  MeanOfChannels(ElementType type, const Windows& windows, bool countPadding)
      : windows_(windows), countPadding_(countPadding), sum_(floatReduction(ReductionKind::Sum, type)) {}
  static size_t scratchBytes(int64_t channels) { return static_cast<size_t>(channels) * sizeof(double); }

  void reduce(const T* image, const WindowPlaces& at, int64_t channels, T* result, std::byte* scratch) const {
    auto* sums = reinterpret_cast<double*>(scratch);
    std::fill_n(sums, channels, 0.0);
    for (int64_t i = at.rows.begin; i < at.rows.end; ++i) {
      for (int64_t j = at.columns.begin; j < at.columns.end; ++j) {
        const int64_t pixel =
            windows_.rows.at(at.row, i) * windows_.columns.length + windows_.columns.at(at.column, j);
        sum_.column(sums, image + pixel * channels, static_cast<size_t>(channels));
      }
    }
    const int64_t held = std::max<int64_t>(at.rows.end - at.rows.begin, 0) *
                         std::max<int64_t>(at.columns.end - at.columns.begin, 0);
    const auto count = static_cast<double>(countPadding_ ? windows_.size() : held);
    std::transform(sums, sums + channels, result, [&](double sum) { return static_cast<T>(sum / count); });
  }

 private:
  Windows windows_;
  bool countPadding_;
  ReductionFunctions<double> sum_;
};

template <class T, class Reduction>
class LastPool final : public CpuKernel {
 public:
  LastPool(Reduction reduction, const Windows& windows, const Shape& image, ThreadPool& pool)
      : pool_(pool), reduction_(std::move(reduction)), windows_(windows), channels_(image[3]),
        rows_(image[0] * windows.rows.count),
        parts_(partCount(pool, rows_,
                         static_cast<double>(rows_ * windows.columns.count * windows.size()) *
                             (static_cast<double>(channels_) / 8 + 5))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      std::byte* const scratch = threadScratch(Reduction::scratchBytes(channels_));
      const TaskRange range = tasksOfPart(rows_, parts_, part);
      for (int64_t row = range.begin; row < range.end; ++row) {
        poolRow(reinterpret_cast<const T*>(operands[0]), reinterpret_cast<T*>(results[0]), row, scratch);
      }
    });
  }

 private:
  void poolRow(const T* images, T* results, int64_t row, std::byte* scratch) const {
    const int64_t image = row / windows_.rows.count;
    const T* from = images + image * windows_.rows.length * windows_.columns.length * channels_;
    WindowPlaces at;
    at.row = row % windows_.rows.count;
    at.rows = windows_.rows.placesOf(at.row);
    for (at.column = 0; at.column < windows_.columns.count; ++at.column) {
      at.columns = windows_.columns.placesOf(at.column);
      reduction_.reduce(from, at, channels_, results + (row * windows_.columns.count + at.column) * channels_,
                        scratch);
    }
  }

  ThreadPool& pool_;
  Reduction reduction_;
  Windows windows_;
  int64_t channels_, rows_; // of the results of all images
  uint32_t parts_;
};

template <class Op>
Op overPlane() {
  Op op;
  op.axes = {1, 2};
  op.keepDims = true;
  return op;
}

// `WholePlane`: the reduction that a pool with one window over the whole plane is.
template <class WholePlane, template <class> class Reduction, class Op, class... Arguments>
std::unique_ptr<CpuKernel> makeLastPool(const Op& op, OperandTypes operands, OperandTypes results,
                                        ThreadPool& pool, Arguments... arguments) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(channelsFirst(image.shape), windowAttributes(op));
  if (isWholePlane(windows)) {
    return makeReductionKernel(overPlane<WholePlane>(), operands, results, pool);
  }
  const auto made = [&]<class T>(T) -> std::unique_ptr<CpuKernel> {
    return std::make_unique<LastPool<T, Reduction<T>>>(Reduction<T>(image.element, windows, arguments...),
                                                       windows, image.shape, pool);
  };
  switch (image.element) {
  case ElementType::F32: return made(float());
  case ElementType::F64: return made(double());
  default: return nullptr;
  }
}

} // namespace

std::unique_ptr<CpuKernel> makeLastMaxPool(const ops::MaxPool& op, OperandTypes operands,
                                           OperandTypes results, ThreadPool& pool) {
  return makeLastPool<ops::ReduceMax, LargestOfChannels>(op, operands, results, pool);
}

std::unique_ptr<CpuKernel> makeLastAveragePool(const ops::AveragePool& op, OperandTypes operands,
                                               OperandTypes results, ThreadPool& pool) {
  return makeLastPool<ops::ReduceMean, MeanOfChannels>(op, operands, results, pool, op.countPadding);
}

} // namespace dfc
