// softmaxCrossEntropy and its gradient. A row's loss is log(sum(exp(x - max))) - (x[label] - max); the mean
// over rows is taken in f64.
#include "runtime/cpu/kernels/rows/rows.h"

#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/scratch.h"

#include <cstring>
#include <limits>

namespace dfc {
namespace {

// What the loss and its gradient have in common: rows of logits as lanes, and labels.
template <class T>
class LogitRows {
 public:
  explicit LogitRows(OperandTypes operands)
      : type_(operands[0].element), labelType_(operands[1].element), rows_(operands[0].shape[0]),
        classes_(operands[0].shape[1]) {
    if (laneTypeOf(type_) != type_) {
      widen_ = widenTile(type_);
      narrow_ = narrowTile(type_);
    }
  }
  int64_t rows() const { return rows_; }
  int64_t classes() const { return classes_; }
  double cost() const { return 2.0 * static_cast<double>(rows_ * classes_); }

  void load(const std::byte* logits, int64_t row, T* lanes) const {
    const std::byte* from = logits + row * classes_ * byteWidth(type_);
    if (widen_ != nullptr) {
      const void* inputs[1] = {from};
      widen_(inputs, lanes, static_cast<size_t>(classes_));
    } else if (classes_ != 0) {
      std::memcpy(lanes, from, static_cast<size_t>(classes_) * sizeof(T));
    }
  }
  void store(const T* lanes, int64_t row, std::byte* result) const {
    std::byte* to = result + row * classes_ * byteWidth(type_);
    if (narrow_ != nullptr) {
      const void* inputs[1] = {lanes};
      narrow_(inputs, to, static_cast<size_t>(classes_));
    } else if (classes_ != 0) {
      std::memcpy(to, lanes, static_cast<size_t>(classes_) * sizeof(T));
    }
  }
  /// The row's label, or -1 when it names no class.
  int64_t label(const std::byte* labels, int64_t row) const {
    const int64_t label = labelType_ == ElementType::I64 ? reinterpret_cast<const int64_t*>(labels)[row]
                                                         : reinterpret_cast<const int32_t*>(labels)[row];
    return label >= 0 && label < classes_ ? label : -1;
  }
  /// A scalar of the type of logits.
  double scalar(const std::byte* at) const {
    T value;
    if (widen_ != nullptr) {
      const void* inputs[1] = {at};
      widen_(inputs, &value, 1);
    } else {
      std::memcpy(&value, at, sizeof(T));
    }
    return value;
  }
  void storeScalar(double value, std::byte* to) const {
    const T lane = static_cast<T>(value);
    if (narrow_ != nullptr) {
      const void* inputs[1] = {&lane};
      narrow_(inputs, to, 1);
    } else {
      std::memcpy(to, &lane, sizeof(T));
    }
  }

 private:
  ElementType type_, labelType_;
  int64_t rows_, classes_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
};

template <class T>
class CrossEntropyKernel final : public CpuKernel {
 public:
  CrossEntropyKernel(OperandTypes operands, ThreadPool& pool)
      : pool_(pool), rows_(operands), parts_(partCount(pool, rows_.rows(), rows_.cost())),
        losses_(static_cast<size_t>(rows_.rows())) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      T* lanes = reinterpret_cast<T*>(threadScratch(static_cast<size_t>(rows_.classes()) * sizeof(T)));
      const UnitRange range = unitsOfPart(rows_.rows(), parts_, part);
      for (int64_t row = range.begin; row < range.end; ++row) {
        rows_.load(operands[0], row, lanes);
        losses_[static_cast<size_t>(row)] = loss(lanes, rows_.label(operands[1], row));
      }
    });
    const double sum = math_.sum(losses_.data(), rows_.rows());
    rows_.storeScalar(sum / static_cast<double>(rows_.rows()), results[0]);
  }

 private:
  double loss(T* lanes, int64_t label) const {
    if (label < 0) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    math_.shift(lanes, rows_.classes());
    const double chosen = lanes[label];
    return math_.logarithm(math_.sumOfExponentials(lanes, rows_.classes(), false)) - chosen;
  }

  ThreadPool& pool_;
  LogitRows<T> rows_;
  RowMath<T> math_;
  uint32_t parts_;
  std::vector<double> losses_;
};

template <class T>
class CrossEntropyGradientKernel final : public CpuKernel {
 public:
  CrossEntropyGradientKernel(OperandTypes operands, ThreadPool& pool)
      : pool_(pool), rows_(operands), parts_(partCount(pool, rows_.rows(), rows_.cost())) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const double scale = rows_.scalar(operands[2]) / static_cast<double>(rows_.rows());
    pool_.run(parts_, [&](uint32_t part) {
      T* lanes = reinterpret_cast<T*>(threadScratch(static_cast<size_t>(rows_.classes()) * sizeof(T)));
      const UnitRange range = unitsOfPart(rows_.rows(), parts_, part);
      for (int64_t row = range.begin; row < range.end; ++row) {
        rows_.load(operands[0], row, lanes);
        differentiate(lanes, rows_.label(operands[1], row), scale);
        rows_.store(lanes, row, results[0]);
      }
    });
  }

 private:
  void differentiate(T* lanes, int64_t label, double scale) const {
    const int64_t classes = rows_.classes();
    math_.shift(lanes, classes);
    math_.divide(lanes, classes, math_.sumOfExponentials(lanes, classes, true));
    if (label >= 0) {
      lanes[label] -= T(1);
    } else {
      scale = std::numeric_limits<double>::quiet_NaN();
    }
    math_.multiply(lanes, classes, scale);
  }

  ThreadPool& pool_;
  LogitRows<T> rows_;
  RowMath<T> math_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeCrossEntropyKernel(OperandTypes operands, ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<CrossEntropyKernel<double>>(operands, pool);
  }
  return std::make_unique<CrossEntropyKernel<float>>(operands, pool);
}

std::unique_ptr<CpuKernel> makeCrossEntropyGradientKernel(OperandTypes operands, ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<CrossEntropyGradientKernel<double>>(operands, pool);
  }
  return std::make_unique<CrossEntropyGradientKernel<float>>(operands, pool);
}

} // namespace dfc
