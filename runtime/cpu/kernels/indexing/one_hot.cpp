// oneHot: everything is zeroed, then a one is written for each index.
#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/indexing/index_reader.h"
#include "runtime/cpu/kernels/indexing/indexing.h"

#include <cstring>

namespace dfc {
namespace {

// Bits: an unsigned integer as wide as an element.
template <class Bits>
class OneHotKernel final : public CpuKernel {
 public:
  OneHotKernel(const ops::OneHot& op, const TensorType& indices, const TensorType& result, ThreadPool& pool)
      : pool_(pool), view_(result.shape, op.axis), indices_(indices, op.depth, op.part),
        bytes_(static_cast<int64_t>(result.bytes())),
        zeroParts_(partCount(pool, bytes_, 0.1 * static_cast<double>(bytes_))),
        oneParts_(partCount(pool, indices_.count(), 2 * static_cast<double>(indices_.count()))) {
    const Literal one = filledLiteral({result.element, {}}, 1);
    std::memcpy(&one_, one.bytes().data(), sizeof(Bits));
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(zeroParts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(bytes_, zeroParts_, part);
      if (mine.end > mine.begin) {
        std::memset(results[0] + mine.begin, 0, static_cast<size_t>(mine.end - mine.begin));
      }
    });
    auto* to = reinterpret_cast<Bits*>(results[0]);
    pool_.run(oneParts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(indices_.count(), oneParts_, part);
      for (int64_t at = mine.begin; at < mine.end; ++at) {
        if (const int64_t place = indices_.place(operands[0], at); place >= 0) {
          to[(at / view_.inner * view_.length + place) * view_.inner + at % view_.inner] = one_;
        }
      }
    });
  }

 private:
  ThreadPool& pool_;
  AxisView view_;
  IndexReader indices_;
  int64_t bytes_;
  Bits one_ = 0;
  uint32_t zeroParts_, oneParts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeOneHotKernel(const ops::OneHot& op, OperandTypes operands,
                                            OperandTypes results, ThreadPool& pool) {
  switch (byteWidth(op.to)) {
  case 1: return std::make_unique<OneHotKernel<uint8_t>>(op, operands[0], results[0], pool);
  case 2: return std::make_unique<OneHotKernel<uint16_t>>(op, operands[0], results[0], pool);
  case 4: return std::make_unique<OneHotKernel<uint32_t>>(op, operands[0], results[0], pool);
  default: return std::make_unique<OneHotKernel<uint64_t>>(op, operands[0], results[0], pool);
  }
}

} // namespace dfc
