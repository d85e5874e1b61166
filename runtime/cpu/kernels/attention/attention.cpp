// attention: for each block of queries its scores, their softmax, and the product of that with the values.
// The softmax is left undivided until the product is made: a row of that is shorter.
#include "runtime/cpu/kernels/attention/attention.h"

#include "runtime/cpu/kernels/attention/attention_operands.h"
#include "runtime/cpu/kernels/attention/block_buffers.h"
#include "runtime/cpu/kernels/attention/block_product.h"

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
      : pool_(pool), in_(op, operands, operands.size() > 3 ? &operands[3] : nullptr),
        scores_([this](int64_t rows, int64_t extent) {
          return BlockMatmul{rows,  extent, in_.shape.width, in_.shape.width, in_.shape.width, extent,
                             false, true};
        }),
        values_([this](int64_t rows, int64_t extent) {
          return BlockMatmul{
              rows, in_.shape.valueWidth, extent, extent, in_.shape.valueWidth, in_.shape.valueWidth, false,
              false};
        }) {
    const int64_t heads = in_.shape.batches() * in_.shape.heads;
    tasks_ = heads * in_.blocks.count();
    parts_ = partCount(pool, tasks_, nanoseconds(op.causal, byteWidth(operands[1].element)));
    for (int64_t block = 0; tasks_ > 0 && block < in_.blocks.count(); ++block) {
      scores_.prepare(in_.blocks.rows(block), in_.blocks.extent(block), parts_);
      values_.prepare(in_.blocks.rows(block), in_.blocks.extent(block), parts_);
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
        runBlock(part, task / in_.blocks.count(), in_.blocks.count() - 1 - task % in_.blocks.count(),
                 operands, results, buffers);
      }
    });
  }

 private:
  // The larger of the time of the arithmetic and, for few queries, that of reading keys and values.
  double nanoseconds(bool causal, int64_t keyBytes) const {
    constexpr double nanosecondsATerm = 0.02, nanosecondsAByte = 0.1;
    const auto width = static_cast<double>(in_.shape.width + in_.shape.valueWidth);
    const double terms = in_.shape.visiblePairs(causal) * (width + 16);
    const double bytes = static_cast<double>(tasks_ * in_.shape.keys * keyBytes) * width;
    return std::max(nanosecondsATerm * terms, nanosecondsAByte * bytes);
  }

  struct Buffers {
    T *q, *k, *v, *scores, *made, *sums; // sums: the maxima first
    std::byte* products;
    Buffers(const AttentionKernel& kernel, BlockBuffers& pieces) {
      const AttentionShape& shape = kernel.in_.shape;
      const int64_t rows = kernel.in_.blocks.mostRows(), widened = kernel.in_.keysInBuffer();
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
    const int64_t rows = in_.blocks.rows(block), extent = in_.blocks.extent(block),
                  query = in_.blocks.first(block);
    const AttentionShape& shape = in_.shape;
    const int64_t keyHead = head / shape.group();
    in_.scaledQueries(operands[0], head, query, rows, buffers.q);
    const T* k = in_.rows(operands[1], shape.at.k, keyHead, 0, extent, shape.width, buffers.k);
    const T* v = in_.rows(operands[2], shape.at.v, keyHead, 0, extent, shape.valueWidth, buffers.v);
    scores_.run(rows, extent, slot, buffers.q, k, buffers.scores, buffers.products);
    auto* sums = reinterpret_cast<T*>(results[1]) + in_.statisticOf(head, query);
    // Of short rows, and of rows that see all keys, in one call.
    constexpr int64_t shortRow = 32;
    const bool together = extent <= shortRow || in_.blocks.limit(query) == extent;
    for (int64_t i = 0; i < rows; ++i) {
      T* const scores = buffers.scores + i * extent;
      const int64_t limit = in_.blocks.limit(query + i);
      in_.mask.apply(operands.back(), head, query + i, scores, limit, -infinity);
      buffers.sums[i] = lessMaximum(scores, limit);
      if (!together) {
        in_.math.exponentials(scores, scores, limit);
      }
      std::fill(scores + limit, scores + extent, together ? -infinity : T(0));
    }
    if (together) {
      in_.math.exponentials(buffers.scores, buffers.scores, rows * extent);
    }
    for (int64_t i = 0; i < rows; ++i) {
      const double sum = in_.math.sum(buffers.scores + i * extent, in_.blocks.limit(query + i));
      const bool seesNone = buffers.sums[i] == -infinity;
      sums[i * shape.at.statistics.row] =
          seesNone ? -infinity : static_cast<T>(static_cast<double>(buffers.sums[i]) + std::log(sum));
      buffers.sums[i] = seesNone ? 1 : static_cast<T>(sum);
    }
    T* const made = in_.place(results[0], shape.at.o, head, query, shape.valueWidth, buffers.made);
    values_.run(rows, extent, slot, buffers.scores, v, made, buffers.products);
    for (int64_t i = 0; i < rows; ++i) {
      in_.math.divide(made + i * shape.valueWidth, shape.valueWidth, buffers.sums[i]);
    }
    in_.write(made, results[0], shape.at.o, head, query, rows, shape.valueWidth);
  }

  // In place: the scores less their maximum, which is returned. Of a row that sees no key it is -infinity,
  // and the scores stay.
  T lessMaximum(T* scores, int64_t count) const {
    const T largest = in_.math.largest(scores, count);
    if (largest != -infinity) {
      in_.math.subtract(scores, count, largest);
    }
    return largest;
  }

  static constexpr T infinity = std::numeric_limits<T>::infinity();

  ThreadPool& pool_;
  AttentionOperands<T> in_;
  BlockProduct<T> scores_, values_;
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
