// softmaxCrossEntropy and its gradient. A row's loss is log(sum(exp(x - max))) - (x[label] - max); the mean
// over rows is taken in f64.
#include "ir/graph/rules/cross_entropy_rules.h"
#include "runtime/cpu/kernels/rows/rows.h"

#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <vector>

namespace dfc {
namespace {

// Shared by the loss and its gradient: rows of logits in their compute type, and labels.
template <class T>
class LogitRows {
 public:
  explicit LogitRows(OperandTypes operands)
      : type_(operands[0].element), labelType_(operands[1].element), rows_(operands[0].shape[0]),
        classes_(operands[0].shape[1]) {
    if (computeTypeOf(type_) != type_) {
      widen_ = widenTile(type_);
      narrow_ = narrowTile(type_);
    }
  }
  int64_t rows() const { return rows_; }
  int64_t classes() const { return classes_; }
  double cost() const { return 2.0 * static_cast<double>(rows_ * classes_); }

  /// Rows [first, first + rows) to or from the compute type.
  void load(const std::byte* logits, int64_t first, int64_t rows, T* values) const {
    const std::byte* from = logits + first * classes_ * byteWidth(type_);
    const auto count = static_cast<size_t>(rows * classes_);
    if (widen_ != nullptr) {
      const void* inputs[1] = {from};
      widen_(inputs, values, count);
    } else {
      std::memcpy(values, from, count * sizeof(T));
    }
  }
  void store(const T* values, int64_t first, int64_t rows, std::byte* result) const {
    std::byte* to = result + first * classes_ * byteWidth(type_);
    const auto count = static_cast<size_t>(rows * classes_);
    if (narrow_ != nullptr) {
      const void* inputs[1] = {values};
      narrow_(inputs, to, count);
    } else {
      std::memcpy(to, values, count * sizeof(T));
    }
  }
  /// The row's label, or -1 when it names no class.
  int64_t label(const std::byte* labels, int64_t row) const {
    const int64_t label = labelType_ == ElementType::I64 ? reinterpret_cast<const int64_t*>(labels)[row]
                                                         : reinterpret_cast<const int32_t*>(labels)[row];
    return label >= 0 && label < classes_ ? label : -1;
  }
  /// The loss or its cotangent: a scalar of the type of the logits or of the compute type.
  double scalar(const std::byte* at, ElementType element) const {
    T value;
    if (element != computeTypeOf(element)) {
      const void* inputs[1] = {at};
      widen_(inputs, &value, 1);
    } else {
      std::memcpy(&value, at, sizeof(T));
    }
    return value;
  }
  void storeScalar(double value, ElementType element, std::byte* to) const {
    const T computeType = static_cast<T>(value);
    if (element != computeTypeOf(element)) {
      const void* inputs[1] = {&computeType};
      narrow_(inputs, to, 1);
    } else {
      std::memcpy(to, &computeType, sizeof(T));
    }
  }

 private:
  ElementType type_, labelType_;
  int64_t rows_, classes_;
  TileFunction widen_ = nullptr, narrow_ = nullptr;
};

// Rows are loaded a few at a time, so that short ones share the cost of a call.
int64_t groupOf(int64_t classes) { return std::max<int64_t>(1, tileElements / classes); }

template <class T>
T* scratchFor(int64_t group, int64_t classes) {
  return reinterpret_cast<T*>(threadScratch(static_cast<size_t>(group * classes) * sizeof(T)));
}

template <class T>
class CrossEntropyKernel final : public CpuKernel {
 public:
  CrossEntropyKernel(OperandTypes operands, ElementType loss, int64_t rowsOfWhole, ThreadPool& pool)
      : pool_(pool), rows_(operands), loss_(loss), rowsOfWhole_(rowsOfWhole),
        parts_(partCount(pool, rows_.rows(), rows_.cost())), losses_(static_cast<size_t>(rows_.rows())) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const int64_t group = groupOf(rows_.classes());
      const TaskRange range = tasksOfPart(rows_.rows(), parts_, part);
      for (int64_t row = range.begin; row < range.end; row += group) {
        computeLosses(operands, row, std::min(group, range.end - row));
      }
    });
    const double sum = RowMath<double>().sum(losses_.data(), rows_.rows());
    rows_.storeScalar(sum / static_cast<double>(rowsOfWhole_), loss_, results[0]);
  }

 private:
  void computeLosses(llvm::ArrayRef<const std::byte*> operands, int64_t first, int64_t rows) {
    const int64_t classes = rows_.classes();
    T* values = scratchFor<T>(rows, classes);
    double chosen[tileElements], logSums[tileElements];
    rows_.load(operands[0], first, rows, values);
    for (int64_t i = 0; i < rows; ++i) {
      T* row = values + i * classes;
      math_.shift(row, classes);
      const int64_t label = rows_.label(operands[1], first + i);
      chosen[i] = label < 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(row[label]);
    }
    math_.exponentials(values, values, rows * classes);
    for (int64_t i = 0; i < rows; ++i) {
      logSums[i] = math_.sum(values + i * classes, classes);
    }
    math_.logarithms(logSums, rows);
    for (int64_t i = 0; i < rows; ++i) {
      losses_[static_cast<size_t>(first + i)] = logSums[i] - chosen[i];
    }
  }

  ThreadPool& pool_;
  LogitRows<T> rows_;
  ElementType loss_;
  int64_t rowsOfWhole_;
  RowMath<T> math_;
  uint32_t parts_;
  std::vector<double> losses_;
};

template <class T>
class CrossEntropyGradientKernel final : public CpuKernel {
 public:
  CrossEntropyGradientKernel(OperandTypes operands, int64_t rowsOfWhole, ThreadPool& pool)
      : pool_(pool), rows_(operands), loss_(operands[2].element), rowsOfWhole_(rowsOfWhole),
        parts_(partCount(pool, rows_.rows(), rows_.cost())) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const double scale = rows_.scalar(operands[2], loss_) / static_cast<double>(rowsOfWhole_);
    pool_.run(parts_, [&](uint32_t part) {
      const int64_t group = groupOf(rows_.classes());
      const TaskRange range = tasksOfPart(rows_.rows(), parts_, part);
      for (int64_t row = range.begin; row < range.end; row += group) {
        differentiate(operands, results[0], row, std::min(group, range.end - row), scale);
      }
    });
  }

 private:
  void differentiate(llvm::ArrayRef<const std::byte*> operands, std::byte* result, int64_t first,
                     int64_t rows, double scale) const {
    const int64_t classes = rows_.classes();
    T* values = scratchFor<T>(rows, classes);
    rows_.load(operands[0], first, rows, values);
    for (int64_t i = 0; i < rows; ++i) {
      math_.shift(values + i * classes, classes);
    }
    math_.exponentials(values, values, rows * classes);
    for (int64_t i = 0; i < rows; ++i) {
      T* row = values + i * classes;
      math_.divide(row, classes, math_.sum(row, classes));
      const int64_t label = rows_.label(operands[1], first + i);
      if (label >= 0) {
        row[label] -= T(1);
      }
      math_.multiply(row, classes, label >= 0 ? scale : std::numeric_limits<double>::quiet_NaN());
    }
    rows_.store(values, first, rows, result);
  }

  ThreadPool& pool_;
  LogitRows<T> rows_;
  ElementType loss_;
  int64_t rowsOfWhole_;
  RowMath<T> math_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeCrossEntropyKernel(const ops::SoftmaxCrossEntropy& op, OperandTypes operands,
                                                  ElementType loss, ThreadPool& pool) {
  const int64_t rows = rowsOfWhole(op.rows, operands);
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<CrossEntropyKernel<double>>(operands, loss, rows, pool);
  }
  return std::make_unique<CrossEntropyKernel<float>>(operands, loss, rows, pool);
}

std::unique_ptr<CpuKernel> makeCrossEntropyGradientKernel(const ops::SoftmaxCrossEntropyGradient& op,
                                                          OperandTypes operands, ThreadPool& pool) {
  const int64_t rows = rowsOfWhole(op.rows, operands);
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<CrossEntropyGradientKernel<double>>(operands, rows, pool);
  }
  return std::make_unique<CrossEntropyGradientKernel<float>>(operands, rows, pool);
}

} // namespace dfc
