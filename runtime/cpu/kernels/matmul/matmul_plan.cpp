#include "runtime/cpu/kernels/matmul/matmul_plan.h"

#include "runtime/cpu/kernels/elementwise/operand_reader.h"

#include <algorithm>
#include <array>

namespace dfc {
namespace {

// A panel has to pay for waking a thread. It reads the other operand again, so panels are larger where that
// operand does not stay in L2.
constexpr double panelFlops = 16e6;
constexpr int64_t residentBytes = 1 << 20;
constexpr int64_t panelMultiple = 16;
// Long panels are quicker in oneDNN; they are used where there are enough of them for many threads.
constexpr int64_t longPanel = 256, manyPanels = 16;

// Where both extents are long, panels are cut both ways: nearly square panels read their operands fewer
// times. Not where that leaves fewer panels than before and too few for many threads, nor where it leaves
// more than twice as many, which would read their operands too often. The widest panels are used only where
// there are many of them, because few panels leave threads idle.
constexpr int64_t gridRows = 256, leastGridColumns = 512, widestGrid = 1024;
constexpr std::array<int64_t, 3> gridWidths{widestGrid, 512, 256};

// Thin products (of a matrix and a few vectors, or outer products) are bound by memory: panels are cut and
// dealt out by bytes.
constexpr int64_t thinExtent = 16, leastThinPanel = 32; // its rows are whole cache lines
constexpr double panelBytes = 256 << 10, bytesPerNanosecond = 10;

// Where panels are fewer than many threads, they are cut again, both ways, for the least estimated time on a
// few threads and on many alike: small panels move their operands more often, few leave threads idle.
constexpr int64_t fewThreads = 2, manyThreads = manyPanels, leastExtent = 64;
constexpr double flopsPerNanosecond = 50; // of one thread, roughly

int64_t panelsOf(int64_t length, int64_t panel) { return (length + panel - 1) / panel; }

// The length of each of `count` panels along an extent of `length`.
int64_t evenPanel(int64_t length, int64_t count) {
  return std::max<int64_t>(1, panelsOf(panelsOf(length, count), panelMultiple) * panelMultiple);
}

// The length of a panel along an extent of `length`, for `wanted` panels of at least `least`.
int64_t panelLength(int64_t length, double wanted, int64_t least) {
  return evenPanel(length, std::max<int64_t>(1, std::min(static_cast<int64_t>(wanted), length / least)));
}

llvm::SmallVector<int64_t, 8> batchStrides(const Shape& operand, const Shape& batch) {
  const Shape own(dimRange(operand).drop_back(2));
  llvm::SmallVector<int64_t, 8> strides = broadcastStrides(own, batch);
  for (int64_t& stride : strides) {
    stride *= operand[operand.rank() - 1] * operand[operand.rank() - 2];
  }
  return strides;
}

} // namespace

MatmulPlan::MatmulPlan(const ops::Matmul& op, OperandTypes operands, OperandTypes results)
    : transposeA(op.transposeA), transposeB(op.transposeB), batch_(dimRange(results[0].shape).drop_back(2)) {
  const llvm::ArrayRef<int64_t> c = dimRange(results[0].shape).take_back(2);
  const llvm::ArrayRef<int64_t> a = dimRange(operands[0].shape).take_back(2);
  rows = c[0];
  columns = c[1];
  inner = a[transposeA ? 0 : 1];
  aStride = a[1];
  bStride = operands[1].shape.dims().back();
  joinRows(operands[0].shape, operands[1].shape);
  batches_ = batch_.elements();
  if (batch_.rank() > 0) {
    aBatch_ = batchStrides(operands[0].shape, batch_);
    bBatch_ = batchStrides(operands[1].shape, batch_);
  }
  if (std::min({rows, columns, inner}) < thinExtent) {
    movedBytes_ = static_cast<double>((rows + columns) * inner + rows * columns) *
                  static_cast<double>(byteWidth(results[0].element));
  }
  const double wanted = std::max(flopsOfOne() / panelFlops, movedBytes_ / panelBytes);
  const bool alongRows = rows >= columns;
  const int64_t otherBytes = inner * (alongRows ? columns : rows) * byteWidth(results[0].element);
  const bool isLong = alongRows && rows >= longPanel * manyPanels;
  const int64_t least = movedBytes_ > 0 && otherBytes <= residentBytes ? leastThinPanel
                        : isLong                                       ? longPanel
                                 : (otherBytes <= residentBytes ? 64 : 128) * (alongRows ? 1 : 2);
  panelRows = alongRows ? panelLength(rows, wanted, least) : std::max<int64_t>(rows, 1);
  panelColumns = alongRows ? std::max<int64_t>(columns, 1) : panelLength(columns, wanted, least);
  if (!isLong && rows >= 2 * gridRows && columns >= leastGridColumns) {
    cutBothWays();
  }
  if (movedBytes_ == 0 &&
      batches_ * panelsOf(rows, panelRows) * panelsOf(columns, panelColumns) < manyThreads) {
    cutForThreads(byteWidth(results[0].element));
  }
  rowPanels_ = panelsOf(rows, panelRows);
  columnPanels_ = panelsOf(columns, panelColumns);
}

void MatmulPlan::joinRows(const Shape& a, const Shape& b) {
  const int64_t all = batch_.elements();
  if (!transposeA && a.elements() == all * rows * inner && b.elements() == inner * columns) {
    rows *= all;
    batch_ = Shape();
  }
}

void MatmulPlan::cutBothWays() {
  const int64_t oneWay = panelsOf(rows, panelRows) * panelsOf(columns, panelColumns);
  for (const int64_t wide : gridWidths) {
    const int64_t bothWays = panelsOf(rows, gridRows) * panelsOf(columns, wide);
    const int64_t enough = wide == widestGrid ? manyPanels : std::min(oneWay, manyPanels);
    if (wide <= columns && bothWays >= enough && bothWays <= 2 * oneWay) {
      panelRows = gridRows;
      panelColumns = evenPanel(columns, panelsOf(columns, wide));
      return;
    }
  }
}

// Threads times the makespan in nanoseconds, in panels of this size: a panel's products, and its operands,
// read and written once more where they are packed, and its result.
double MatmulPlan::threadTime(int64_t threads, int64_t tall, int64_t wide, int64_t width) const {
  const int64_t count = batches_ * panelsOf(rows, tall) * panelsOf(columns, wide);
  const double moved = static_cast<double>(((transposeA ? 2 : 1) * tall + 2 * wide) * inner + tall * wide) *
                       static_cast<double>(width);
  const double flops = 2.0 * static_cast<double>(tall * wide) * static_cast<double>(inner);
  return static_cast<double>(panelsOf(count, threads) * threads) *
         (flops / flopsPerNanosecond + moved / bytesPerNanosecond);
}

void MatmulPlan::cutForThreads(int64_t width) {
  const auto time = [&](int64_t tall, int64_t wide) {
    return threadTime(fewThreads, tall, wide, width) + threadTime(manyThreads, tall, wide, width);
  };
  double least = time(panelRows, panelColumns);
  for (int64_t down = 1; down * leastExtent <= std::max(rows, leastExtent) && down <= 2 * manyThreads;
       ++down) {
    for (int64_t across = 1;
         across * leastExtent <= std::max(columns, leastExtent) && down * across <= 4 * manyThreads;
         ++across) {
      const int64_t tall = evenPanel(rows, down), wide = evenPanel(columns, across);
      const bool pays = 2.0 * static_cast<double>(tall * wide) * static_cast<double>(inner) >= panelFlops;
      if (const double now = time(tall, wide); pays && now < least) {
        least = now;
        panelRows = std::min(tall, rows);
        panelColumns = std::min(wide, columns);
      }
    }
  }
}

MatmulPlan MatmulPlan::inPanels(int64_t mostRows, int64_t mostColumns) const {
  constexpr int64_t multiple = 64; // whole vectors and register tiles of every instruction set
  const auto lengthOf = [](int64_t extent, int64_t most) {
    const int64_t even = panelsOf(extent, panelsOf(extent, most));
    return std::min(extent, panelsOf(even, multiple) * multiple);
  };
  MatmulPlan plan = *this;
  plan.panelRows = lengthOf(rows, mostRows);
  plan.panelColumns = lengthOf(columns, mostColumns);
  plan.rowPanels_ = panelsOf(rows, plan.panelRows);
  plan.columnPanels_ = panelsOf(columns, plan.panelColumns);
  plan.downColumns_ = true;
  return plan;
}

MatmulPanel MatmulPlan::panel(int64_t index) const {
  const int64_t batch = index / rowPanels_ / columnPanels_;
  const int64_t column = (downColumns_ ? index / rowPanels_ : index) % columnPanels_ * panelColumns;
  const int64_t row = (downColumns_ ? index : index / columnPanels_) % rowPanels_ * panelRows;
  MatmulPanel panel{row,
                    column,
                    std::min(panelRows, rows - row),
                    std::min(panelColumns, columns - column),
                    transposeA ? row : row * aStride,
                    transposeB ? column * bStride : column,
                    (batch * rows + row) * columns + column};
  int64_t rest = batch;
  for (size_t axis = batch_.rank(); axis-- > 0;) {
    panel.aOffset += rest % batch_[axis] * aBatch_[axis];
    panel.bOffset += rest % batch_[axis] * bBatch_[axis];
    rest /= batch_[axis];
  }
  return panel;
}

double MatmulPlan::flopsOfOne() const {
  return 2.0 * static_cast<double>(rows * columns) * static_cast<double>(inner);
}

double MatmulPlan::cost() const {
  return static_cast<double>(batches_) *
         std::max(flopsOfOne() / flopsPerNanosecond, movedBytes_ / bytesPerNanosecond);
}

} // namespace dfc
