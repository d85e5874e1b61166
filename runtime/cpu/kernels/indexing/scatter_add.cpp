// scatterAdd: a stable counting sort lists the updates of each position in order; then the result is computed
// tile by tile, each by one thread. A tile without updates is a copy; a tile with updates is accumulated in
// f64 or i64 and rounded once. A tile is a few adjacent slices, or a part of a long slice.
#include "ir/graph/rules/axis_view.h"
#include "runtime/cpu/kernels/indexing/index_reader.h"
#include "runtime/cpu/kernels/indexing/indexing.h"
#include "runtime/cpu/kernels/scratch.h"
#include "runtime/cpu/kernels/tiles/tile_functions.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

namespace dfc {
namespace {

template <class Carry>
class ScatterAddKernel final : public CpuKernel {
 public:
  ScatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands, ThreadPool& pool)
      : pool_(pool), type_(operands[0].element), computeType_(computeTypeOf(type_)),
        view_(operands[0].shape, op.axis), indices_(operands[1], view_.length, op.part),
        toCarry_(castTile(computeType_, carryType)), fromCarry_(castTile(carryType, computeType_)),
        widen_(computeType_ == type_ ? nullptr : widenTile(type_)),
        narrow_(computeType_ == type_ ? nullptr : narrowTile(type_)), add_(sumOf(computeType_).column),
        first_(static_cast<size_t>(view_.length) + 1), order_(static_cast<size_t>(indices_.count())) {
    columns_ = std::clamp<int64_t>(view_.inner, 1, tileElements);
    slices_ = tileElements / columns_;
    sliceTiles_ = (view_.length + slices_ - 1) / slices_;
    columnTiles_ = (view_.inner + columns_ - 1) / columns_;
    tasks_ = view_.outer * sliceTiles_ * columnTiles_;
    const int64_t updates = view_.outer * indices_.count() * view_.inner;
    parts_ = partCount(pool, tasks_, static_cast<double>(operands[0].shape.elements() + 2 * updates));
  }

  void run(llvm::ArrayRef<const std::byte*> operands, llvm::ArrayRef<std::byte*> results) override {
    listUpdates(operands[1]);
    pool_.run(parts_, [&](uint32_t part) {
      const TaskRange mine = tasksOfPart(tasks_, parts_, part);
      for (int64_t task = mine.begin; task < mine.end; ++task) {
        makeTile(task, operands, results[0]);
      }
    });
  }

 private:
  static constexpr ElementType carryType =
      std::is_same_v<Carry, double> ? ElementType::F64 : ElementType::I64;

  static ReductionFunctions<Carry> sumOf(ElementType computeType) {
    if constexpr (std::is_same_v<Carry, double>) {
      return floatReduction(ReductionKind::Sum, computeType);
    } else {
      return integerReduction(ReductionKind::Sum, computeType);
    }
  }

  // order_[first_[p]], …, order_[first_[p + 1] - 1]: the updates of position p.
  void listUpdates(const std::byte* indices) {
    std::fill(first_.begin(), first_.end(), 0);
    for (int64_t at = 0; at < indices_.count(); ++at) {
      if (const int64_t place = indices_.place(indices, at); place >= 0) {
        ++first_[static_cast<size_t>(place)];
      }
    }
    int64_t before = 0;
    for (int64_t& first : first_) {
      before += first;
      first = before; // one past the last of the position; the loop below counts it down to the first
    }
    for (int64_t at = indices_.count(); at-- > 0;) {
      if (const int64_t place = indices_.place(indices, at); place >= 0) {
        order_[static_cast<size_t>(--first_[static_cast<size_t>(place)])] = at;
      }
    }
  }

  void makeTile(int64_t task, llvm::ArrayRef<const std::byte*> operands, std::byte* result) const {
    const int64_t column = task % columnTiles_ * columns_;
    const int64_t slice = task / columnTiles_ % sliceTiles_ * slices_;
    const int64_t outer = task / columnTiles_ / sliceTiles_;
    const int64_t slices = std::min(slices_, view_.length - slice);
    const int64_t columns = std::min(columns_, view_.inner - column);
    const int64_t at = ((outer * view_.length + slice) * view_.inner + column) * byteWidth(type_);
    const auto count = static_cast<size_t>(slices * columns);
    if (first_[static_cast<size_t>(slice)] == first_[static_cast<size_t>(slice + slices)]) {
      if (result != operands[0]) { // else in place
        std::memcpy(result + at, operands[0] + at, count * static_cast<size_t>(byteWidth(type_)));
      }
      return;
    }
    std::byte* const scratch = threadScratch(3 * tileElements * sizeof(double));
    auto* const carries = reinterpret_cast<Carry*>(scratch);
    std::byte* const values = scratch + tileElements * sizeof(double);
    apply(toCarry_, widened(operands[0] + at, values, count), carries, count);
    for (int64_t i = 0; i < slices; ++i) {
      addUpdates(operands[2], outer, slice + i, column, columns, carries + i * columns, values);
    }
    if (narrow_ != nullptr) {
      apply(fromCarry_, carries, values, count);
      apply(narrow_, values, result + at, count);
    } else {
      apply(fromCarry_, carries, result + at, count);
    }
  }

  void addUpdates(const std::byte* updates, int64_t outer, int64_t slice, int64_t column, int64_t columns,
                  Carry* carries, std::byte* values) const {
    const auto place = static_cast<size_t>(slice);
    for (int64_t i = first_[place]; i < first_[place + 1]; ++i) {
      const int64_t update = outer * indices_.count() + order_[static_cast<size_t>(i)];
      const std::byte* from = updates + (update * view_.inner + column) * byteWidth(type_);
      add_(carries, widened(from, values, static_cast<size_t>(columns)), static_cast<size_t>(columns));
    }
  }

  static void apply(TileFunction function, const void* from, void* to, size_t count) {
    function(&from, to, count);
  }
  const void* widened(const std::byte* from, std::byte* buffer, size_t count) const {
    if (widen_ == nullptr) {
      return from;
    }
    apply(widen_, from, buffer, count);
    return buffer;
  }

  ThreadPool& pool_;
  ElementType type_, computeType_;
  AxisView view_;
  IndexReader indices_;
  TileFunction toCarry_, fromCarry_, widen_, narrow_;
  void (*add_)(Carry*, const void*, size_t);
  std::vector<int64_t> first_, order_;
  int64_t columns_, slices_, sliceTiles_, columnTiles_, tasks_; // of a tile; tiles of an outer index; in all
  uint32_t parts_;
};

} // namespace

std::unique_ptr<CpuKernel> makeScatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands,
                                                ThreadPool& pool) {
  if (isFloat(operands[0].element)) {
    return std::make_unique<ScatterAddKernel<double>>(op, operands, pool);
  }
  return std::make_unique<ScatterAddKernel<int64_t>>(op, operands, pool);
}

} // namespace dfc
