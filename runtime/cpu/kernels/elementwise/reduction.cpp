// Reductions over the tiles of a fused body (an empty one for a plain reduction). Floats are summed in f64
// and rounded once, so an f32 sum is correctly rounded unless its terms cancel by more than 2^29; f64 sums
// use 16 interleaved partial sums, combined pairwise. Products are accumulated likewise. Integers wrap.
#include "runtime/cpu/kernels/elementwise/elementwise.h"

#include "ir/base/assert.h"
#include "runtime/cpu/kernels/elementwise/reduction_layout.h"
#include "runtime/cpu/kernels/elementwise/tile_source.h"
#include "runtime/cpu/kernels/scratch.h"

#include <algorithm>
#include <type_traits>

namespace dfc {
namespace {

struct ReductionPlan {
  ops::FusedBody body;
  ReductionKind kind = ReductionKind::Sum;
  bool mean = false; // the sum is divided by the number of elements
  Dims axes;
  int64_t count = 0; // divisor of a mean; 0: the number of reduced elements
};

ReductionPlan planOfFused(const ops::Fused& fused) {
  using Reduction = ops::Fused::Reduction;
  const ReductionKind kind = fused.reduction == Reduction::Max ? ReductionKind::Max : ReductionKind::Sum;
  return {fused.body, kind, fused.reduction == Reduction::Mean, fused.axes, fused.count};
}

ReductionPlan planOf(const OpAttributes& attributes) {
  switch (kindOf(attributes)) {
  case OpKind::Fused: return planOfFused(attributes.as<ops::Fused>());
  case OpKind::ReduceSum: return {{}, ReductionKind::Sum, false, attributes.as<ops::ReduceSum>().axes, 0};
  case OpKind::ReduceMean: {
    const auto& op = attributes.as<ops::ReduceMean>();
    return {{}, ReductionKind::Sum, true, op.axes, op.count};
  }
  case OpKind::ReduceMax: return {{}, ReductionKind::Max, false, attributes.as<ops::ReduceMax>().axes, 0};
  case OpKind::ReduceMin: return {{}, ReductionKind::Min, false, attributes.as<ops::ReduceMin>().axes, 0};
  case OpKind::ReduceProduct:
    return {{}, ReductionKind::Product, false, attributes.as<ops::ReduceProduct>().axes, 0};
  default: DFC_UNREACHABLE("not a reduction");
  }
}

template <class Carry>
class ReductionKernel final : public CpuKernel {
 public:
  ReductionKernel(const ReductionPlan& plan, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), layout_(*ops::Fused::commonShape(operands), plan.axes),
        source_(plan.body, operands, layout_.order, false), kind_(plan.kind), mean_(plan.mean),
        count_(plan.count != 0 ? plan.count : layout_.reduced),
        computeType_(computeTypeOf(source_.resultType())), functions_(functionsOf(plan.kind, computeType_)) {
    columns_ = std::min(layout_.inner, tileElements);
    panels_ = columns_ == 0 ? 0 : (layout_.inner + columns_ - 1) / columns_;
    groupRows_ = shortRows() ? std::max<int64_t>(1, tileElements / std::max<int64_t>(layout_.reduced, 1)) : 1;
    tasks_ = shortRows() ? (layout_.outer + groupRows_ - 1) / groupRows_
                         : layout_.outer * panels_ * layout_.chunks;
    parts_ = partCount(pool, tasks_, source_.cost());
    if (layout_.chunks > 1) {
      partials_.resize(static_cast<size_t>(layout_.outer * layout_.chunks * layout_.inner));
    }
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    pool_.run(parts_, [&](uint32_t part) {
      const Work work{operands, results.front(), threadScratch(workBytes())};
      const TaskRange tasks = tasksOfPart(tasks_, parts_, part);
      source_.begin(operands, work.tiles());
      for (int64_t task = tasks.begin; task < tasks.end; ++task) {
        shortRows() ? reduceShortRows(work, task) : reduceChunk(work, task);
      }
    });
    if (layout_.chunks > 1) {
      mergeChunks({operands, results.front(), threadScratch(workBytes())});
    }
  }

 private:
  // Scratch of one thread: accumulators, a buffer to convert them in, the scratch of the source.
  struct Work {
    llvm::ArrayRef<const std::byte*> operands;
    std::byte* result;
    std::byte* scratch;
    Carry* carries() const { return reinterpret_cast<Carry*>(scratch); }
    std::byte* conversion() const { return scratch + tileElements * sizeof(Carry); }
    std::byte* tiles() const { return scratch + 2 * tileElements * sizeof(Carry); }
  };
  size_t workBytes() const { return 2 * tileElements * sizeof(Carry) + source_.scratchBytes(); }

  static ReductionFunctions<Carry> functionsOf(ReductionKind kind, ElementType computeType) {
    if constexpr (std::is_same_v<Carry, double>) {
      return floatReduction(kind, computeType);
    } else {
      return integerReduction(kind, computeType);
    }
  }

  bool shortRows() const { return layout_.byRows && layout_.reduced <= tileElements; }
  const std::byte* tile(const Work& work, int64_t begin, int64_t count) const {
    return static_cast<const std::byte*>(source_.tile(work.operands, begin, count, work.tiles(), nullptr));
  }

  // Several whole rows from one tile, a result each.
  void reduceShortRows(const Work& work, int64_t task) {
    const int64_t first = task * groupRows_;
    const int64_t rows = std::min(groupRows_, layout_.outer - first);
    const int64_t length = layout_.reduced;
    const std::byte* values = length == 0 ? nullptr : tile(work, first * length, rows * length);
    for (int64_t row = 0; row < rows; ++row) {
      work.carries()[row] =
          functions_.row(values + row * length * byteWidth(computeType_), static_cast<size_t>(length));
    }
    finish(work, work.carries(), first, rows);
  }

  // One chunk of a long row, or of a panel of columns.
  void reduceChunk(const Work& work, int64_t task) {
    const int64_t chunk = task % layout_.chunks;
    const int64_t panel = task / layout_.chunks % panels_;
    const int64_t outer = task / layout_.chunks / panels_;
    const int64_t column = panel * columns_;
    const int64_t columns = std::min(columns_, layout_.inner - column);
    const int64_t begin = chunk * layout_.chunkLength;
    const int64_t end = std::min(layout_.reduced, begin + layout_.chunkLength);
    std::fill_n(work.carries(), columns, functions_.identity);
    const int64_t base = outer * layout_.reduced;
    layout_.byRows ? reduceRow(work, base + begin, base + end)
                   : reduceColumns(work, base + begin, base + end, column, columns);
    if (layout_.chunks == 1) {
      finish(work, work.carries(), outer * layout_.inner + column, columns);
    } else {
      const int64_t at = (outer * layout_.chunks + chunk) * layout_.inner + column;
      std::copy_n(work.carries(), columns, partials_.data() + at);
    }
  }

  void reduceRow(const Work& work, int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += tileElements) {
      const int64_t count = std::min(tileElements, end - at);
      if (at + count < end) {
        source_.bringNear(work.operands, at + count, std::min(tileElements, end - at - count));
      }
      const Carry reduced = functions_.row(tile(work, at, count), static_cast<size_t>(count));
      functions_.merge(work.carries(), &reduced, 1);
    }
  }

  void reduceColumns(const Work& work, int64_t begin, int64_t end, int64_t column, int64_t columns) {
    const int64_t rowsPerTile = panels_ == 1 ? std::max<int64_t>(1, tileElements / layout_.inner) : 1;
    for (int64_t row = begin; row < end; row += rowsPerTile) {
      const int64_t rows = std::min(rowsPerTile, end - row);
      const int64_t next = row + rows;
      if (next < end) { // hardware prefetchers stop at a page, which is about a tile
        source_.bringNear(work.operands, next * layout_.inner + column,
                          std::min(rowsPerTile, end - next) * columns);
      }
      const std::byte* values = tile(work, row * layout_.inner + column, rows * columns);
      for (int64_t i = 0; i < rows; ++i) {
        functions_.column(work.carries(), values + i * columns * byteWidth(computeType_),
                          static_cast<size_t>(columns));
      }
    }
  }

  void mergeChunks(const Work& work) {
    const int64_t inner = layout_.inner;
    for (int64_t outer = 0; outer < layout_.outer; ++outer) {
      Carry* chunks = partials_.data() + outer * layout_.chunks * inner;
      for (int64_t step = 1; step < layout_.chunks; step *= 2) {
        for (int64_t chunk = 0; chunk + step < layout_.chunks; chunk += 2 * step) {
          functions_.merge(chunks + chunk * inner, chunks + (chunk + step) * inner,
                           static_cast<size_t>(inner));
        }
      }
      for (int64_t column = 0; column < inner; column += tileElements) {
        finish(work, chunks + column, outer * inner + column, std::min(tileElements, inner - column));
      }
    }
  }

  // Accumulators to results [first, first + count), count <= tileElements.
  void finish(const Work& work, Carry* carries, int64_t first, int64_t count) {
    const ElementType type = source_.resultType();
    const ElementType carryType = std::is_same_v<Carry, double> ? ElementType::F64 : ElementType::I64;
    if (mean_) {
      for (int64_t i = 0; i < count; ++i) {
        carries[i] /= static_cast<Carry>(count_);
      }
    }
    if (kind_ == ReductionKind::Sum && layout_.reduced == 0) {
      std::fill_n(carries, count, Carry(0)); // the empty sum is +0, not the neutral -0
    }
    std::byte* out = work.result + first * byteWidth(type);
    const bool half = computeType_ != type;
    const void* from[1] = {carries};
    castTile(carryType, computeType_)(from, half ? work.conversion() : out, static_cast<size_t>(count));
    if (half) {
      from[0] = work.conversion();
      narrowTile(type)(from, out, static_cast<size_t>(count));
    }
  }

  ThreadPool& pool_;
  ReductionLayout layout_;
  TileSource source_;
  ReductionKind kind_;
  bool mean_;
  int64_t count_; // of a mean's elements
  ElementType computeType_;
  ReductionFunctions<Carry> functions_;
  int64_t columns_ = 0, panels_ = 0, groupRows_ = 0, tasks_ = 0;
  uint32_t parts_ = 1;
  std::vector<Carry> partials_; // [outer, chunk, inner], where there is more than one chunk
};

} // namespace

std::unique_ptr<CpuKernel> makeReductionKernel(const OpAttributes& attributes, OperandTypes operands,
                                               OperandTypes results, ThreadPool& pool) {
  const ReductionPlan plan = planOf(attributes);
  if (isFloat(results.front().element)) {
    return std::make_unique<ReductionKernel<double>>(plan, operands, pool);
  }
  return std::make_unique<ReductionKernel<int64_t>>(plan, operands, pool);
}

} // namespace dfc
