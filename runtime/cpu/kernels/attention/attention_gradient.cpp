// attentionGradient: for each block of queries its weights again, from the scores and logSumExp, and the four
// products with them. A task is a head of keys, or a run of query blocks of one where there are few heads: it
// adds up the gradients of k and v over its blocks, and those of several tasks are added in order. How many
// tasks share a head depends on the shape alone.
#include "runtime/cpu/kernels/attention/attention.h"

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/attention/attention_operands.h"
#include "runtime/cpu/kernels/attention/block_buffers.h"
#include "runtime/cpu/kernels/attention/block_product.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// The number of tasks that a key head's query blocks are divided among. With few heads there are several, so
// that a host of many threads is busy; each task has at least two blocks.
int64_t sharersOf(const AttentionShape& shape, const QueryBlocks& blocks) {
  constexpr int64_t wanted = 32, leastBlocks = 2;
  const int64_t heads = std::max<int64_t>(shape.batches() * shape.keyHeads, 1);
  const int64_t most = blocks.count() * shape.group() / leastBlocks;
  return std::clamp<int64_t>((wanted + heads - 1) / heads, 1, std::max<int64_t>(most, 1));
}

template <class T>
void add(const T* from, T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    to[i] += from[i];
  }
}

// T: float or double, which everything is computed in.
template <class T>
class AttentionGradientKernel final : public CpuKernel {
 public:
  AttentionGradientKernel(const ops::Attention& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), in_(op, operands, operands.size() > 6 ? &operands[6] : nullptr),
        sharers_(sharersOf(in_.shape, in_.blocks)),
        products_{BlockProduct<T>(
                      [this](int64_t rows, int64_t extent) { return byKeys(rows, extent, in_.shape.width); }),
                  BlockProduct<T>([this](int64_t rows, int64_t extent) {
                    return byKeys(rows, extent, in_.shape.valueWidth);
                  }),
                  BlockProduct<T>([this](int64_t rows, int64_t extent) {
                    return BlockMatmul{
                        rows, in_.shape.width, extent, extent, in_.shape.width, in_.shape.width, false,
                        false};
                  }),
                  BlockProduct<T>([this](int64_t rows, int64_t extent) {
                    return byQueries(rows, extent, in_.shape.width);
                  }),
                  BlockProduct<T>([this](int64_t rows, int64_t extent) {
                    return byQueries(rows, extent, in_.shape.valueWidth);
                  })} {
    heads_ = in_.shape.batches() * in_.shape.keyHeads;
    tasks_ = heads_ * sharers_;
    constexpr double nanosecondsATerm = 0.02;
    parts_ = partCount(pool, tasks_,
                       nanosecondsATerm * in_.shape.visiblePairs(op.causal) *
                           static_cast<double>(3 * in_.shape.width + 2 * in_.shape.valueWidth + 16));
    for (int64_t block = 0; tasks_ > 0 && block < in_.blocks.count(); ++block) {
      for (BlockProduct<T>& product : products_) {
        product.prepare(in_.blocks.rows(block), in_.blocks.extent(block), parts_);
      }
    }
    if (sharers_ > 1) {
      partial_.emplace(static_cast<size_t>(tasks_ * partialElements()) * sizeof(T));
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
        runTask(part, task, operands, results, buffers);
      }
    });
    if (sharers_ > 1) {
      joinPartials(results);
    }
  }

 private:
  enum Product : size_t { Scores, OfWeights, OfQueries, OfKeys, OfValues };

  struct Buffers {
    T *q, *k, *v, *cotangent, *weights, *ofWeights, *dq, *part, *dk, *dv;
    std::byte* products;
    Buffers(const AttentionGradientKernel& kernel, BlockBuffers& pieces) {
      const AttentionShape& shape = kernel.in_.shape;
      const int64_t rows = kernel.in_.blocks.mostRows(), widened = kernel.in_.keysInBuffer();
      q = pieces.take<T>(rows * shape.width);
      k = pieces.take<T>(widened * shape.width);
      v = pieces.take<T>(widened * shape.valueWidth);
      cotangent = pieces.take<T>(rows * shape.valueWidth);
      weights = pieces.take<T>(rows * shape.keys);
      ofWeights = pieces.take<T>(rows * shape.keys);
      dq = pieces.take<T>(rows * shape.width);
      part = pieces.take<T>(shape.keys * std::max(shape.width, shape.valueWidth));
      dk = pieces.take<T>(shape.keys * shape.width);
      dv = pieces.take<T>(shape.keys * shape.valueWidth);
      size_t bytes = 0;
      for (const BlockProduct<T>& product : kernel.products_) {
        bytes = std::max(bytes, product.scratchBytes());
      }
      products = pieces.takeBytes(bytes);
    }
  };
  size_t bufferBytes() const {
    BlockBuffers pieces;
    const Buffers counted(*this, pieces);
    return pieces.used();
  }

  // Rows of queries times rows of keys, and their transposes.
  static BlockMatmul byKeys(int64_t rows, int64_t extent, int64_t width) {
    return {rows, extent, width, width, width, extent, false, true};
  }
  static BlockMatmul byQueries(int64_t rows, int64_t extent, int64_t width) {
    return {extent, width, rows, extent, width, width, true, false};
  }
  int64_t partialElements() const { return in_.shape.keys * (in_.shape.width + in_.shape.valueWidth); }

  void runTask(uint32_t slot, int64_t task, llvm::ArrayRef<const std::byte*> operands,
               llvm::ArrayRef<std::byte*> results, const Buffers& buffers) {
    const int64_t keyHead = task / sharers_;
    const T* k =
        in_.rows(operands[1], in_.shape.at.k, keyHead, 0, in_.shape.keys, in_.shape.width, buffers.k);
    const T* v =
        in_.rows(operands[2], in_.shape.at.v, keyHead, 0, in_.shape.keys, in_.shape.valueWidth, buffers.v);
    std::fill_n(buffers.dk, in_.shape.keys * in_.shape.width, T(0));
    std::fill_n(buffers.dv, in_.shape.keys * in_.shape.valueWidth, T(0));
    const TaskRange own = tasksOfPart(in_.shape.group() * in_.blocks.count(), static_cast<uint32_t>(sharers_),
                                      static_cast<uint32_t>(task % sharers_));
    for (int64_t at = own.begin; at < own.end; ++at) {
      const int64_t head = keyHead * in_.shape.group() + at / in_.blocks.count();
      runBlock(slot, head, at % in_.blocks.count(), k, v, operands, results, buffers);
    }
    if (sharers_ == 1) {
      writeKeys(keyHead, buffers.dk, buffers.dv, results);
      return;
    }
    T* const partial = reinterpret_cast<T*>(partial_->data()) + task * partialElements();
    std::copy_n(buffers.dk, in_.shape.keys * in_.shape.width, partial);
    std::copy_n(buffers.dv, in_.shape.keys * in_.shape.valueWidth,
                partial + in_.shape.keys * in_.shape.width);
  }

  void runBlock(uint32_t slot, int64_t head, int64_t block, const T* k, const T* v,
                llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results,
                const Buffers& buffers) const {
    const int64_t rows = in_.blocks.rows(block), extent = in_.blocks.extent(block),
                  query = in_.blocks.first(block);
    const auto multiply = [&](Product product, const T* a, const T* b, T* c) {
      products_[product].run(rows, extent, slot, a, b, c, buffers.products);
    };
    const T* cotangent =
        in_.rows(operands[3], in_.shape.at.o, head, query, rows, in_.shape.valueWidth, buffers.cotangent);
    in_.scaledQueries(operands[0], head, query, rows, buffers.q);
    multiply(Scores, buffers.q, k, buffers.weights);
    multiply(OfWeights, cotangent, v, buffers.ofWeights);
    const int64_t number = in_.statisticOf(head, query), step = in_.shape.at.statistics.row;
    const auto* logSumExp = reinterpret_cast<const T*>(operands[4]) + number;
    const auto* delta = reinterpret_cast<const T*>(operands[5]) + number;
    for (int64_t i = 0; i < rows; ++i) {
      T *const weights = buffers.weights + i * extent, *const ofScores = buffers.ofWeights + i * extent;
      const int64_t limit = in_.blocks.limit(query + i);
      weightsOf(weights, limit, logSumExp[i * step]);
      in_.mask.apply(operands.back(), head, query + i, weights, limit, T(0));
      std::fill(weights + limit, weights + extent, T(0));
      for (int64_t j = 0; j < limit; ++j) {
        ofScores[j] = weights[j] * (ofScores[j] - delta[i * step]);
      }
      std::fill(ofScores + limit, ofScores + extent, T(0));
    }
    T* const dq = in_.place(results[0], in_.shape.at.q, head, query, in_.shape.width, buffers.dq);
    multiply(OfQueries, buffers.ofWeights, k, dq);
    in_.math.multiply(dq, rows * in_.shape.width, in_.scale);
    in_.write(dq, results[0], in_.shape.at.q, head, query, rows, in_.shape.width);
    multiply(OfKeys, buffers.ofWeights, buffers.q, buffers.part);
    add(buffers.part, buffers.dk, extent * in_.shape.width);
    multiply(OfValues, buffers.weights, cotangent, buffers.part);
    add(buffers.part, buffers.dv, extent * in_.shape.valueWidth);
  }

  // In place: scores to weights. A query that sees no key has weights of 0.
  void weightsOf(T* scores, int64_t count, T logSumExp) const {
    if (logSumExp == -std::numeric_limits<T>::infinity()) {
      std::fill_n(scores, count, T(0));
      return;
    }
    in_.math.subtract(scores, count, logSumExp);
    in_.math.exponentials(scores, scores, count);
  }

  void joinPartials(llvm::ArrayRef<std::byte*> results) {
    const uint32_t parts = partCount(pool_, heads_, static_cast<double>(tasks_ * partialElements()));
    pool_.run(parts, [&](uint32_t part) {
      const TaskRange heads = tasksOfPart(heads_, parts, part);
      for (int64_t head = heads.begin; head < heads.end; ++head) {
        T* const sum = reinterpret_cast<T*>(partial_->data()) + head * sharers_ * partialElements();
        for (int64_t sharer = 1; sharer < sharers_; ++sharer) {
          add(sum + sharer * partialElements(), sum, partialElements());
        }
        writeKeys(head, sum, sum + in_.shape.keys * in_.shape.width, results);
      }
    });
  }

  // Packed gradients are one result.
  void writeKeys(int64_t keyHead, const T* dk, const T* dv, llvm::ArrayRef<std::byte*> results) const {
    const AttentionShape& shape = in_.shape;
    in_.write(dk, results[results.size() == 1 ? 0 : 1], shape.at.k, keyHead, 0, shape.keys, shape.width);
    in_.write(dv, results.back(), shape.at.v, keyHead, 0, shape.keys, shape.valueWidth);
  }

  ThreadPool& pool_;
  AttentionOperands<T> in_;
  int64_t sharers_, heads_ = 0, tasks_ = 0;
  BlockProduct<T> products_[5]; // by Product
  uint32_t parts_ = 0;
  std::optional<AlignedBuffer> partial_; // by task: the gradients of k and v
};

} // namespace

std::unique_ptr<CpuKernel> makeAttentionGradientKernel(const ops::AttentionGradient& op,
                                                       OperandTypes operands, ThreadPool& pool) {
  if (operands[0].element == ElementType::F64) {
    return std::make_unique<AttentionGradientKernel<double>>(op.forward, operands, pool);
  }
  return std::make_unique<AttentionGradientKernel<float>>(op.forward, operands, pool);
}

} // namespace dfc
