// attention: for each block of queries its scores, their softmax, and the product of that with the values.
// The softmax is left undivided until the product is made: a row of that is shorter.
#include "runtime/cpu/kernels/attention/attention.h"

#include "runtime/cpu/kernels/attention/block_buffers.h"
#include "runtime/cpu/kernels/attention/block_product.h"
#include "runtime/cpu/kernels/attention/mask_rows.h"
#include "runtime/cpu/kernels/attention/query_blocks.h"
#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dfc {
namespace {

// T: float or double, which everything is computed in.
template <class T>
class AttentionKernel final : public CpuKernel {
 public:
  AttentionKernel(const ops::Attention& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), shape_(knownAttentionShape(operands)), blocks_(shape_, op.causal),
        mask_(operands.size() == 4 ? MaskRows(shape_, operands[3]) : MaskRows()),
        converter_(operands[0].element), width_(byteWidth(operands[0].element)),
        scale_(op.scaleFor(shape_.width)), scores_([this](int64_t rows, int64_t extent) {
          return BlockMatmul{rows, extent, shape_.width, shape_.width, shape_.width, extent, false, true};
        }),
        values_([this](int64_t rows, int64_t extent) {
          return BlockMatmul{
              rows, shape_.valueWidth, extent, extent, shape_.valueWidth, shape_.valueWidth, false, false};
        }) {
    const int64_t heads = shape_.batches() * shape_.heads;
    tasks_ = heads * blocks_.count();
    constexpr double nanosecondsATerm = 0.02;
    parts_ = partCount(pool, tasks_,
                       nanosecondsATerm * shape_.visiblePairs(op.causal) *
                           static_cast<double>(shape_.width + shape_.valueWidth + 16));
    for (int64_t block = 0; tasks_ > 0 && block < blocks_.count(); ++block) {
      scores_.prepare(blocks_.rows(block), blocks_.extent(block), parts_);
      values_.prepare(blocks_.rows(block), blocks_.extent(block), parts_);
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    if (tasks_ == 0) {
      return;
    }
    pool_.run(parts_, [&](uint32_t part) {
      BlockBuffers pieces(threadScratch(bufferBytes()));
      const Buffers buffers(*this, pieces);
      const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        // The longest blocks of a causal attention first.
        runBlock(part, task / blocks_.count(), blocks_.count() - 1 - task % blocks_.count(), operands,
                 results, buffers);
      }
    });
  }

 private:
  struct Buffers {
    T *q, *k, *v, *scores, *made, *sums;
    std::byte* products;
    Buffers(const AttentionKernel& kernel, BlockBuffers& pieces) {
      const AttentionShape& shape = kernel.shape_;
      const int64_t rows = kernel.blocks_.mostRows(), widened = kernel.converter_.inPlace() ? 0 : shape.keys;
      q = pieces.take<T>(rows * shape.width);
      k = pieces.take<T>(widened * shape.width);
      v = pieces.take<T>(widened * shape.valueWidth);
      scores = pieces.take<T>(rows * shape.keys);
      made = pieces.take<T>(rows * shape.valueWidth);
      sums = pieces.take<T>(rows);
      products = pieces.takeBytes(std::max(kernel.scores_.scratchBytes(), kernel.values_.scratchBytes()));
    }
  };
  size_t bufferBytes() const {
    BlockBuffers pieces;
    const Buffers counted(*this, pieces);
    return pieces.used();
  }

  void runBlock(uint32_t slot, int64_t head, int64_t block, llvm::ArrayRef<const std::byte*> operands,
                llvm::ArrayRef<std::byte*> results, const Buffers& buffers) const {
    const int64_t rows = blocks_.rows(block), extent = blocks_.extent(block), query = blocks_.first(block);
    const int64_t row = head * shape_.queries + query, key = head / shape_.group() * shape_.keys;
    const T* q = converter_.read(operands[0] + row * shape_.width * width_, rows * shape_.width, buffers.q);
    const T* k = converter_.read(operands[1] + key * shape_.width * width_, extent * shape_.width, buffers.k);
    const T* v = converter_.read(operands[2] + key * shape_.valueWidth * width_, extent * shape_.valueWidth,
                                 buffers.v);
    if (q != buffers.q) {
      std::copy_n(q, rows * shape_.width, buffers.q);
    }
    math_.multiply(buffers.q, rows * shape_.width, scale_);
    scores_.run(rows, extent, slot, buffers.q, k, buffers.scores, buffers.products);
    auto* sums = reinterpret_cast<T*>(results[1]) + row;
    for (int64_t i = 0; i < rows; ++i) {
      T* const scores = buffers.scores + i * extent;
      const int64_t limit = blocks_.limit(query + i);
      mask_.apply(operands.back(), head, query + i, scores, limit, -infinity);
      buffers.sums[i] = exponentials(scores, limit, sums[i]);
      std::fill(scores + limit, scores + extent, T(0));
    }
    std::byte* const to = results[0] + row * shape_.valueWidth * width_;
    T* const made = converter_.place(to, buffers.made);
    values_.run(rows, extent, slot, buffers.scores, v, made, buffers.products);
    for (int64_t i = 0; i < rows; ++i) {
      math_.divide(made + i * shape_.valueWidth, shape_.valueWidth, buffers.sums[i]);
    }
    converter_.write(made, to, rows * shape_.valueWidth);
  }

  // In place: the exponentials of the scores less their maximum. Gives their sum, 1 where no key is seen.
  T exponentials(T* scores, int64_t count, T& logSumExp) const {
    const T largest = math_.largest(scores, count);
    if (largest == -infinity) {
      std::fill_n(scores, count, T(0));
      logSumExp = -infinity;
      return 1;
    }
    math_.subtract(scores, count, largest);
    math_.exponentials(scores, scores, count);
    const double sum = math_.sum(scores, count);
    logSumExp = static_cast<T>(static_cast<double>(largest) + std::log(sum));
    return static_cast<T>(sum);
  }

  static constexpr T infinity = std::numeric_limits<T>::infinity();

  ThreadPool& pool_;
  AttentionShape shape_;
  QueryBlocks blocks_;
  MaskRows mask_;
  StorageConverter<T> converter_;
  int64_t width_; // bytes of a stored element
  double scale_;
  BlockProduct<T> scores_, values_;
  RowMath<T> math_;
  int64_t tasks_ = 0;
  uint32_t parts_ = 0;
};

} // namespace

std::unique_ptr<CpuKernel> makeAttentionKernel(const ops::Attention& op, OperandTypes operands,
                                               ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<AttentionKernel<double>>(op, operands, pool);
  }
  return std::make_unique<AttentionKernel<float>>(op, operands, pool);
}

} // namespace dfc
