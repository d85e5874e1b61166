#include "runtime/cpu/kernels/matmul/quantized_matmul.h"

#include "ir/graph/ops/quantized_matmul.h"
#include "runtime/cpu/kernels/matmul/integer_dot.h"
#include "runtime/cpu/kernels/storage_converter.h"
#include "runtime/cpu/kernels/zero_kernel.h"

#include <vector>

namespace dfc {
namespace {

// f64.
class PlainQuantizedMatmulKernel final : public CpuKernel {
 public:
  PlainQuantizedMatmulKernel(const ops::QuantizedMatmul& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), op_(op), inner_(operands[0].shape.dims().back()), columns_(operands[1].shape[0]),
        elements_(operands[0].shape.elements() / inner_ * columns_), runs_(operands[2].shape[1]),
        parts_(partCount(pool, elements_, static_cast<double>(elements_ * inner_))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const auto* const a = reinterpret_cast<const double*>(operands[0]);
    const auto* const weights = reinterpret_cast<const uint8_t*>(operands[1]);
    const auto* const scales = reinterpret_cast<const double*>(operands[2]);
    auto* const to = reinterpret_cast<double*>(results[0]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(elements_, parts_, part);
      for (int64_t i = mine.begin; i < mine.end; ++i) {
        const int64_t column = i % columns_;
        const double* const x = a + i / columns_ * inner_;
        double sum = 0;
        for (int64_t k = 0; k < inner_; ++k) {
          const uint8_t byte = weights[(column * inner_ + k) / op_.perByte()];
          const int q = op_.bits == 8 ? byte : k % 2 == 0 ? byte & 15 : byte >> 4;
          sum += x[k] * (static_cast<double>(q - op_.zero()) * scales[column * runs_ + k / (inner_ / runs_)]);
        }
        to[i] = sum;
      }
    });
  }

 private:
  ThreadPool& pool_;
  ops::QuantizedMatmul op_;
  int64_t inner_, columns_, elements_, runs_;
  uint32_t parts_;
};

class QuantizedMatmulKernel final : public CpuKernel {
 public:
  QuantizedMatmulKernel(const ops::QuantizedMatmul& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), converter_(operands[0].element), elementBytes_(byteWidth(operands[0].element)),
        halves_(op.bits == 4), dot_(halves_ ? dotOfHalves() : dotOfBytes()),
        inner_(operands[0].shape[operands[0].shape.rank() - 1]), rows_(operands[0].shape.elements() / inner_),
        columns_(operands[1].shape[0]), rowBytes_(operands[1].shape[1]), runs_(operands[2].shape[1]),
        values_(static_cast<size_t>(rows_ * inner_)), ordered_(halves_ ? values_.size() : 0),
        scales_(converter_.inPlace() ? 0 : static_cast<size_t>(columns_ * runs_)),
        parts_(partCount(pool, columns_,
                         nanosecondsPerByte * static_cast<double>(columns_ * rowBytes_ * rows_))) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    const float* x = converter_.read(operands[0], rows_ * inner_, values_.data());
    if (halves_) {
      x = splitHalves(x);
    }
    const auto* const weights = reinterpret_cast<const uint8_t*>(operands[1]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(columns_, parts_, part);
      const int64_t first = mine.begin * runs_, count = (mine.end - mine.begin) * runs_;
      const float* const scales = converter_.read(operands[2] + first * elementBytes_, count,
                                                  scales_.empty() ? nullptr : scales_.data() + first);
      for (int64_t column = mine.begin; column < mine.end; ++column) {
        const IntegerRow row{weights + column * rowBytes_, scales + (column - mine.begin) * runs_, rowBytes_,
                             rowBytes_ / runs_};
        for (int64_t r = 0; r < rows_; ++r) {
          const float sum = dot_(row, x + r * inner_);
          converter_.write(&sum, results[0] + (r * columns_ + column) * elementBytes_, 1);
        }
      }
    });
  }

 private:
  static constexpr double nanosecondsPerByte = 0.15; // at the memory bandwidth of a core

  // Of each row, the elements of the low halves of its bytes, then those of the high halves.
  const float* splitHalves(const float* x) {
    for (int64_t r = 0; r < rows_; ++r) {
      float* const to = ordered_.data() + r * inner_;
      for (int64_t i = 0; i < rowBytes_; ++i) {
        to[i] = x[r * inner_ + 2 * i];
        to[rowBytes_ + i] = x[r * inner_ + 2 * i + 1];
      }
    }
    return ordered_.data();
  }

  ThreadPool& pool_;
  StorageConverter<float> converter_;
  int64_t elementBytes_;
  bool halves_;
  IntegerDot dot_;
  int64_t inner_, rows_, columns_, rowBytes_, runs_;
  std::vector<float> values_, ordered_, scales_;
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeQuantizedMatmulKernel(const ops::QuantizedMatmul& op, OperandTypes operands,
                                                     ThreadPool& pool) {
  const TensorType& a = operands[0];
  if (a.shape.dims().back() == 0 || a.shape.elements() == 0 || operands[1].shape[0] == 0) {
    Dims dims(a.shape.dims().begin(), a.shape.dims().end());
    dims.back() = operands[1].shape[0];
    return std::make_unique<ZeroKernel>(TensorType{a.element, Shape(dims)}.bytes());
  }
  if (a.element == ElementType::F64) {
    return std::make_unique<PlainQuantizedMatmulKernel>(op, operands, pool);
  }
  return std::make_unique<QuantizedMatmulKernel>(op, operands, pool);
}

} // namespace dfc
