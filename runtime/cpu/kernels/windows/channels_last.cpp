#include "runtime/cpu/kernels/windows/channels_last.h"

#include "ir/graph/rules/layout.h"
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/movement/movement.h"

#include <vector>

namespace dfc {
namespace {

// A transpose between a tensor and a buffer of its own.
struct Transposed {
  std::unique_ptr<CpuKernel> kernel;
  AlignedBuffer buffer;

  Transposed(const TensorType& from, const TensorType& to, const std::array<int64_t, 4>& axes,
             ThreadPool& pool)
      : buffer(static_cast<size_t>(to.bytes())) {
    ops::Transpose op;
    op.permutation.assign(axes.begin(), axes.end());
    kernel = makeMovementKernel(op, from, to, pool);
  }
};

llvm::SmallVector<TensorType, 4> withChannelsFirst(OperandTypes types) {
  llvm::SmallVector<TensorType, 4> first;
  for (const TensorType& type : types) {
    first.push_back({type.element, channelsFirst(type.shape)});
  }
  return first;
}

class ChannelsLastKernel final : public CpuKernel {
 public:
  ChannelsLastKernel(const OpAttributes& form, OperandTypes operands, OperandTypes results, ThreadPool& pool)
      : kernel_(makeCpuKernel(form, withChannelsFirst(operands), withChannelsFirst(results), pool)) {
    for (const TensorType& type : operands) {
      operands_.emplace_back(type, TensorType{type.element, channelsFirst(type.shape)}, toChannelsFirst,
                             pool);
    }
    for (const TensorType& type : results) {
      results_.emplace_back(TensorType{type.element, channelsFirst(type.shape)}, type, toChannelsLast, pool);
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    llvm::SmallVector<const std::byte*, 4> first;
    llvm::SmallVector<std::byte*, 4> made;
    for (size_t i = 0; i < operands_.size(); ++i) {
      std::byte* const buffer = operands_[i].buffer.data();
      operands_[i].kernel->run(operands[i], buffer);
      first.push_back(buffer);
    }
    for (Transposed& result : results_) {
      made.push_back(result.buffer.data());
    }
    kernel_->run(first, made);
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].kernel->run(made[i], results[i]);
    }
  }

 private:
  std::unique_ptr<CpuKernel> kernel_;
  std::vector<Transposed> operands_, results_;
};

} // namespace

std::unique_ptr<CpuKernel> makeChannelsLastKernel(const OpAttributes& channelsFirst, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool) {
  return std::make_unique<ChannelsLastKernel>(channelsFirst, operands, results, pool);
}

} // namespace dfc
