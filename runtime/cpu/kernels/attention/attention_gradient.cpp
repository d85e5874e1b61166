// attentionGradient: for each block of queries its weights again, from the scores and logSumExp, and the four
// products with them. A task is a head of keys, or a run of query blocks of one where there are few heads: it
// adds up the gradients of k and v over its blocks, and those of several tasks are added in order. How many
// tasks share a head depends on the shape alone.
#include "runtime/cpu/kernels/attention/attention.h"

#include "runtime/cpu/kernels/aligned_buffer.h"
#include "runtime/cpu/kernels/attention/block_buffers.h"
#include "runtime/cpu/kernels/attention/block_product.h"
#include "runtime/cpu/kernels/attention/mask_rows.h"
#include "runtime/cpu/kernels/attention/query_blocks.h"
#include "runtime/cpu/kernels/rows/row_math.h"
#include "runtime/cpu/kernels/storage_converter.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// Tasks that share a head of keys: so many that a host of many threads has work, each with several blocks.
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
      : pool_(pool), shape_(knownAttentionShape(operands)), blocks_(shape_, op.causal),
        mask_(operands.size() == 7 ? MaskRows(shape_, operands[6]) : MaskRows()),
        converter_(operands[0].element), width_(byteWidth(operands[0].element)),
        scale_(op.scaleFor(shape_.width)),
        sharers_(sharersOf(shape_, blocks_)), products_{BlockProduct<T>([this](int64_t rows, int64_t extent) {
                                                          return byKeys(rows, extent, shape_.width);
                                                        }),
                                                        BlockProduct<T>([this](int64_t rows, int64_t extent) {
                                                          return byKeys(rows, extent, shape_.valueWidth);
                                                        }),
                                                        BlockProduct<T>([this](int64_t rows, int64_t extent) {
                                                          return BlockMatmul{
                                                              rows,         shape_.width, extent, extent,
                                                              shape_.width, shape_.width, false,  false};
                                                        }),
                                                        BlockProduct<T>([this](int64_t rows, int64_t extent) {
                                                          return byQueries(rows, extent, shape_.width);
                                                        }),
                                                        BlockProduct<T>([this](int64_t rows, int64_t extent) {
                                                          return byQueries(rows, extent, shape_.valueWidth);
                                                        })} {
    heads_ = shape_.batches() * shape_.keyHeads;
    tasks_ = heads_ * sharers_;
    constexpr double nanosecondsATerm = 0.02;
    parts_ = partCount(pool, tasks_,
                       nanosecondsATerm * shape_.visiblePairs(op.causal) *
                           static_cast<double>(3 * shape_.width + 2 * shape_.valueWidth + 16));
    for (int64_t block = 0; tasks_ > 0 && block < blocks_.count(); ++block) {
      for (BlockProduct<T>& product : products_) {
        product.prepare(blocks_.rows(block), blocks_.extent(block), parts_);
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
      const AttentionShape& shape = kernel.shape_;
      const int64_t rows = kernel.blocks_.mostRows(), widened = kernel.converter_.inPlace() ? 0 : shape.keys;
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
  int64_t partialElements() const { return shape_.keys * (shape_.width + shape_.valueWidth); }

  void runTask(uint32_t slot, int64_t task, llvm::ArrayRef<const std::byte*> operands,
               llvm::ArrayRef<std::byte*> results, const Buffers& buffers) {
    const int64_t keyHead = task / sharers_, key = keyHead * shape_.keys;
    const T* k =
        converter_.read(operands[1] + key * shape_.width * width_, shape_.keys * shape_.width, buffers.k);
    const T* v = converter_.read(operands[2] + key * shape_.valueWidth * width_,
                                 shape_.keys * shape_.valueWidth, buffers.v);
    std::fill_n(buffers.dk, shape_.keys * shape_.width, T(0));
    std::fill_n(buffers.dv, shape_.keys * shape_.valueWidth, T(0));
    const TaskRange own = tasksOfPart(shape_.group() * blocks_.count(), static_cast<uint32_t>(sharers_),
                                      static_cast<uint32_t>(task % sharers_));
    for (int64_t at = own.begin; at < own.end; ++at) {
      const int64_t head = keyHead * shape_.group() + at / blocks_.count();
      runBlock(slot, head, at % blocks_.count(), k, v, operands, results, buffers);
    }
    if (sharers_ == 1) {
      converter_.write(buffers.dk, results[1] + key * shape_.width * width_, shape_.keys * shape_.width);
      converter_.write(buffers.dv, results[2] + key * shape_.valueWidth * width_,
                       shape_.keys * shape_.valueWidth);
      return;
    }
    T* const partial = reinterpret_cast<T*>(partial_->data()) + task * partialElements();
    std::copy_n(buffers.dk, shape_.keys * shape_.width, partial);
    std::copy_n(buffers.dv, shape_.keys * shape_.valueWidth, partial + shape_.keys * shape_.width);
  }

  void runBlock(uint32_t slot, int64_t head, int64_t block, const T* k, const T* v,
                llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results,
                const Buffers& buffers) const {
    const int64_t rows = blocks_.rows(block), extent = blocks_.extent(block), query = blocks_.first(block);
    const int64_t row = head * shape_.queries + query;
    const auto multiply = [&](Product product, const T* a, const T* b, T* c) {
      products_[product].run(rows, extent, slot, a, b, c, buffers.products);
    };
    const T* q = converter_.read(operands[0] + row * shape_.width * width_, rows * shape_.width, buffers.q);
    const T* cotangent = converter_.read(operands[3] + row * shape_.valueWidth * width_,
                                         rows * shape_.valueWidth, buffers.cotangent);
    if (q != buffers.q) {
      std::copy_n(q, rows * shape_.width, buffers.q);
    }
    math_.multiply(buffers.q, rows * shape_.width, scale_);
    multiply(Scores, buffers.q, k, buffers.weights);
    multiply(OfWeights, cotangent, v, buffers.ofWeights);
    const auto* logSumExp = reinterpret_cast<const T*>(operands[4]) + row;
    const auto* delta = reinterpret_cast<const T*>(operands[5]) + row;
    for (int64_t i = 0; i < rows; ++i) {
      T *const weights = buffers.weights + i * extent, *const ofScores = buffers.ofWeights + i * extent;
      const int64_t limit = blocks_.limit(query + i);
      weightsOf(weights, limit, logSumExp[i]);
      mask_.apply(operands.back(), head, query + i, weights, limit, T(0));
      std::fill(weights + limit, weights + extent, T(0));
      for (int64_t j = 0; j < limit; ++j) {
        ofScores[j] = weights[j] * (ofScores[j] - delta[i]);
      }
      std::fill(ofScores + limit, ofScores + extent, T(0));
    }
    std::byte* const to = results[0] + row * shape_.width * width_;
    T* const dq = converter_.place(to, buffers.dq);
    multiply(OfQueries, buffers.ofWeights, k, dq);
    math_.multiply(dq, rows * shape_.width, scale_);
    converter_.write(dq, to, rows * shape_.width);
    multiply(OfKeys, buffers.ofWeights, buffers.q, buffers.part);
    add(buffers.part, buffers.dk, extent * shape_.width);
    multiply(OfValues, buffers.weights, cotangent, buffers.part);
    add(buffers.part, buffers.dv, extent * shape_.valueWidth);
  }

  // In place: scores to weights. A query that sees no key has weights of 0.
  void weightsOf(T* scores, int64_t count, T logSumExp) const {
    if (logSumExp == -std::numeric_limits<T>::infinity()) {
      std::fill_n(scores, count, T(0));
      return;
    }
    math_.subtract(scores, count, logSumExp);
    math_.exponentials(scores, scores, count);
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
        const int64_t ofKeys = shape_.keys * shape_.width, ofValues = shape_.keys * shape_.valueWidth;
        converter_.write(sum, results[1] + head * ofKeys * width_, ofKeys);
        converter_.write(sum + ofKeys, results[2] + head * ofValues * width_, ofValues);
      }
    });
  }

  ThreadPool& pool_;
  AttentionShape shape_;
  QueryBlocks blocks_;
  MaskRows mask_;
  StorageConverter<T> converter_;
  int64_t width_; // bytes of a stored element
  double scale_;
  int64_t sharers_, heads_ = 0, tasks_ = 0;
  BlockProduct<T> products_[5]; // by Product
  RowMath<T> math_;
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
