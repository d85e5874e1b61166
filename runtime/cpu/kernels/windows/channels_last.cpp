#include "runtime/cpu/kernels/windows/channels_last.h"

#include "ir/graph/rules/layout.h"
#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/movement/movement.h"

#include <optional>
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

TensorType withChannelsFirst(const TensorType& type) { return {type.element, channelsFirst(type.shape)}; }

// Types with their channels first, where `isLast` says of their number that they have them last.
template <class IsLast>
llvm::SmallVector<TensorType, 4> withChannelsFirst(OperandTypes types, const IsLast& isLast) {
  llvm::SmallVector<TensorType, 4> first;
  for (size_t i = 0; i < types.size(); ++i) {
    first.push_back(isLast(i) ? withChannelsFirst(types[i]) : types[i]);
  }
  return first;
}

class ChannelsLastKernel final : public CpuKernel {
 public:
  ChannelsLastKernel(const OpAttributes& op, const OpAttributes& form, OperandTypes operands,
                     OperandTypes results, ThreadPool& pool)
      : kernel_(makeCpuKernel(form,
                              withChannelsFirst(operands, [&](size_t i) { return isOperandLast(op, i); }),
                              withChannelsFirst(results, [&](size_t) { return isResultLast(op); }), pool)) {
    for (size_t i = 0; i < operands.size(); ++i) {
      operands_.emplace_back();
      if (isOperandLast(op, i)) {
        operands_.back().emplace(operands[i], withChannelsFirst(operands[i]), toChannelsFirst, pool);
      }
    }
    for (const TensorType& type : results) {
      results_.emplace_back();
      if (isResultLast(op)) {
        results_.back().emplace(withChannelsFirst(type), type, toChannelsLast, pool);
      }
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    llvm::SmallVector<const std::byte*, 4> first;
    llvm::SmallVector<std::byte*, 4> made;
    for (size_t i = 0; i < operands_.size(); ++i) {
      if (operands_[i]) {
        operands_[i]->kernel->run(operands[i], operands_[i]->buffer.data());
      }
      first.push_back(operands_[i] ? operands_[i]->buffer.data() : operands[i]);
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      made.push_back(results_[i] ? results_[i]->buffer.data() : results[i]);
    }
    kernel_->run(first, made);
    for (size_t i = 0; i < results_.size(); ++i) {
      if (results_[i]) {
        results_[i]->kernel->run(made[i], results[i]);
      }
    }
  }

 private:
  std::unique_ptr<CpuKernel> kernel_;
  std::vector<std::optional<Transposed>> operands_, results_; // of those with their channels last
};

} // namespace

std::unique_ptr<CpuKernel> makeChannelsLastKernel(const OpAttributes& attributes,
                                                  const OpAttributes& channelsFirst, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool) {
  return std::make_unique<ChannelsLastKernel>(attributes, channelsFirst, operands, results, pool);
}

} // namespace dfc
