#include "runtime/cpu/kernels/movement/dynamic_box.h"

#include "ir/graph/rules/dynamic_rules.h"
#include "runtime/cpu/kernels/elementwise/operand_reader.h"
#include "runtime/cpu/kernels/movement/strided_copy.h"

#include <cstring>

namespace dfc {
namespace {

llvm::SmallVector<int64_t, 8> boxDims(const Shape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}

/// Where a box lies in a tensor, by starts in memory.
class BoxPlace {
 public:
  BoxPlace(const TensorType& whole, const Shape& box, const Dims& axes, const TensorType& starts)
      : axes_(movingAxes(whole.shape, box, axes)), width_(byteWidth(whole.element)),
        wide_(starts.element == ElementType::I64) {}

  /// Bytes from the first element of the whole to that of the box.
  int64_t bytes(const std::byte* starts) const {
    int64_t offset = 0;
    for (const MovingAxis& axis : axes_) {
      offset += clampedStart(startOf(starts, axis.start), axis.length, axis.size()) * axis.stride;
    }
    return offset * width_;
  }

 private:
  int64_t startOf(const std::byte* starts, size_t which) const {
    return wide_ ? reinterpret_cast<const int64_t*>(starts)[which]
                 : reinterpret_cast<const int32_t*>(starts)[which];
  }

  llvm::SmallVector<MovingAxis, 4> axes_;
  int64_t width_;
  bool wide_;
};

class DynamicSliceKernel final : public CpuKernel {
 public:
  DynamicSliceKernel(const ops::DynamicSlice& op, OperandTypes operands, const TensorType& result,
                     ThreadPool& pool)
      : place_(operands[0], result.shape, op.axes, operands[1]),
        copy_(pool, {boxDims(result.shape), rowMajorStrides(operands[0].shape), rowMajorStrides(result.shape),
                     byteWidth(result.element)}) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    copy_.run(operands[0] + place_.bytes(operands[1]), results[0]);
  }

 private:
  BoxPlace place_;
  StridedCopy copy_;
};

class DynamicUpdateSliceKernel final : public CpuKernel {
 public:
  DynamicUpdateSliceKernel(const ops::DynamicUpdateSlice& op, OperandTypes operands, ThreadPool& pool)
      : place_(operands[0], operands[1].shape, op.axes, operands[2]),
        whole_(pool, {{operands[0].shape.elements()}, {1}, {1}, byteWidth(operands[0].element)}),
        update_(pool, {boxDims(operands[1].shape), rowMajorStrides(operands[1].shape),
                       rowMajorStrides(operands[0].shape), byteWidth(operands[0].element)}) {}

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (operands[0] != results[0]) {
      whole_.run(operands[0], results[0]);
    }
    update_.run(operands[1], results[0] + place_.bytes(operands[2]));
  }

 private:
  BoxPlace place_;
  StridedCopy whole_, update_;
};

} // namespace

std::unique_ptr<CpuKernel> makeDynamicSliceKernel(const ops::DynamicSlice& op, OperandTypes operands,
                                                  OperandTypes results, ThreadPool& pool) {
  return std::make_unique<DynamicSliceKernel>(op, operands, results[0], pool);
}

std::unique_ptr<CpuKernel> makeDynamicUpdateSliceKernel(const ops::DynamicUpdateSlice& op,
                                                        OperandTypes operands, ThreadPool& pool) {
  return std::make_unique<DynamicUpdateSliceKernel>(op, operands, pool);
}

} // namespace dfc
