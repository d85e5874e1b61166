#include "runtime/cpu/kernels/widened.h"

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

namespace dfc {
namespace {

bool isHalf(ElementType type) { return computeTypeOf(type) != type; }

class WidenedKernel final : public CpuKernel {
 public:
  WidenedKernel(std::unique_ptr<CpuKernel> kernel, OperandTypes operands, OperandTypes results,
                ThreadPool& pool)
      : pool_(pool), kernel_(std::move(kernel)) {
    for (const TensorType& type : operands) {
      operands_.push_back(sideOf(type, isHalf(type.element) ? widenTile(type.element) : nullptr));
    }
    for (const TensorType& type : results) {
      results_.push_back(sideOf(type, narrowTile(type.element)));
    }
  }

  bool hold(llvm::ArrayRef<Held> operands) override {
    keeper_ = kernel_->hold(operands);
    bool keepsWide = false;
    for (size_t i = 0; i < operands_.size(); ++i) {
      operands_[i].isHeld = operands_[i].convert != nullptr && operands[i] == Held::Yes;
      keepsWide = keepsWide || operands_[i].isHeld;
    }
    return keeper_ || keepsWide;
  }

  void heldChanged() override {
    for (Side& side : operands_) {
      side.isWide = false;
    }
    if (keeper_) {
      kernel_->heldChanged();
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    llvm::SmallVector<const std::byte*, 4> wideOperands;
    llvm::SmallVector<std::byte*, 4> wideResults;
    for (size_t i = 0; i < operands_.size(); ++i) {
      Side& side = operands_[i];
      if (side.convert != nullptr && !side.isWide) {
        side.isWide = side.isHeld;
        convert(side, operands[i], 2, side.wide->data(), 4);
      }
      wideOperands.push_back(side.convert != nullptr ? side.wide->data() : operands[i]);
    }
    for (Side& side : results_) {
      wideResults.push_back(side.wide->data());
    }
    kernel_->run(wideOperands, wideResults);
    for (size_t i = 0; i < results_.size(); ++i) {
      convert(results_[i], wideResults[i], 4, results[i], 2);
    }
  }

 private:
  struct Side {
    TileFunction convert = nullptr; // null: no conversion
    int64_t elements = 0;
    std::unique_ptr<AlignedBuffer> wide;
    bool isHeld = false, isWide = false; // isWide: of a held operand, which `wide` holds now
  };

  static Side sideOf(const TensorType& type, TileFunction function) {
    Side side{function, type.shape.elements(), nullptr, false, false};
    if (function != nullptr) {
      side.wide = std::make_unique<AlignedBuffer>(static_cast<size_t>(side.elements) * sizeof(float));
    }
    return side;
  }

  void convert(const Side& side, const std::byte* from, int64_t fromWidth, std::byte* to, int64_t toWidth) {
    const uint32_t parts = partCount(pool_, side.elements, static_cast<double>(side.elements));
    pool_.run(parts, [&](uint32_t part) {
      const TaskRange range = tasksOfPart(side.elements, parts, part);
      const void* inputs[1] = {from + range.begin * fromWidth};
      side.convert(inputs, to + range.begin * toWidth, static_cast<size_t>(range.end - range.begin));
    });
  }

  ThreadPool& pool_;
  std::unique_ptr<CpuKernel> kernel_;
  std::vector<Side> operands_, results_;
  bool keeper_ = false; // whether kernel_ keeps something
};

} // namespace

llvm::SmallVector<TensorType, 4> widenedTypes(OperandTypes types) {
  llvm::SmallVector<TensorType, 4> widened;
  for (const TensorType& type : types) {
    widened.push_back({computeTypeOf(type.element), type.shape});
  }
  return widened;
}

std::unique_ptr<CpuKernel> makeWidenedKernel(std::unique_ptr<CpuKernel> kernel, OperandTypes operands,
                                             OperandTypes results, ThreadPool& pool) {
  return std::make_unique<WidenedKernel>(std::move(kernel), operands, results, pool);
}

} // namespace dfc
