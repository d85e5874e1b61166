// Cost of packed panels: products against traffic. Tall and wide panels pack each operand fewer times; small
// ones leave work for every thread. The estimate weighs both for a host of many threads, whatever the real
// number of threads is.
#include "runtime/cpu/kernels/matmul/packed_panels.h"

#include <algorithm>
#include <limits>

namespace dfc {
namespace {

// Reuse: an element of a takes part in as many products as there are columns, one of b in as many as there
// are rows, and one of c is the sum of `inner` products. Each is moved once more where operands are packed,
// so the least of the three extents is the number of products that pay for a move.
constexpr int64_t leastReuse = 512;
// A packed panel of b stays in the L2 cache while the rows of a stream past it.
constexpr int64_t cachedBytes = 2 << 20;
// A panel of c stays in a cache until the epilogue reads it. A transposed a is not packed where a panel has
// all of its rows, so such panels may be taller.
constexpr int64_t tallest = 1024, tallestTransposed = 2048, widest = 256, leastExtent = 128;

// A constant right operand is packed once, so that even few rows pay: a panel's columns of it are then
// contiguous, where the plain matrix has them a row apart, often a page. Not worth memory where the plain
// matrix stays in the L1 and L2 caches and the TLB; oneDNN has no packed layout for a single row.
constexpr int64_t leastConstant = 64 << 10;
constexpr int64_t widestConstant = 512, narrowestConstant = 64;
constexpr double panelNanoseconds = 1500; // to start a panel

bool isWorthPacking(const MatmulPlan& plan) {
  return plan.panels() == plan.panelsOfOne() &&
         std::min({plan.rows, plan.columns, plan.inner}) >= leastReuse &&
         plan.inner * widest * byteWidth(ElementType::F32) <= cachedBytes;
}

// Nanoseconds that one panel takes. Traffic: packed elements are read and written; elements of a that are
// used in place are read; elements of c are read and written when they leave the panel.
double panelCost(const MatmulPlan& plan) {
  constexpr double flopsPerNanosecond = 50, bytesPerNanosecond = 10; // of one thread, roughly
  const auto rows = static_cast<double>(plan.panelRows), columns = static_cast<double>(plan.panelColumns),
             inner = static_cast<double>(plan.inner);
  const double movesOfA = plan.packsA() ? 2 : 1;
  const double moved = movesOfA * rows * inner + 2 * columns * inner + 2 * rows * columns;
  return 2 * rows * columns * inner / flopsPerNanosecond +
         moved * static_cast<double>(byteWidth(ElementType::F32)) / bytesPerNanosecond;
}

// Panels are dealt out evenly, so the thread with the most panels decides.
double packedCost(const MatmulPlan& plan) {
  constexpr int64_t manyThreads = 16;
  const int64_t panelsOfThread = (plan.panels() + manyThreads - 1) / manyThreads;
  return static_cast<double>(panelsOfThread) * panelCost(plan);
}

// Threads times the makespan, for a host of few threads and for one of many. Traffic: each panel reads its
// operands and writes its result, which the epilogue or a copy reads.
double constantCost(const MatmulPlan& plan, int64_t width) {
  constexpr double flopsPerNanosecond = 80, bytesPerNanosecond = 10; // of one thread, roughly
  const auto rows = static_cast<double>(plan.panelRows), columns = static_cast<double>(plan.panelColumns),
             inner = static_cast<double>(plan.inner);
  const double moved = (plan.packsA() ? 3 : 1) * rows * inner + columns * inner + 2 * rows * columns;
  const double panel = 2 * rows * columns * inner / flopsPerNanosecond +
                       moved * static_cast<double>(width) / bytesPerNanosecond + panelNanoseconds;
  double time = 0;
  for (const int64_t threads : {2, 16}) {
    time += static_cast<double>((plan.panels() + threads - 1) / threads * threads) * panel;
  }
  return time;
}

} // namespace

std::optional<MatmulPlan> packedPanels(const MatmulPlan& plan, ElementType type) {
  if (type != ElementType::F32 || !isWorthPacking(plan)) {
    return std::nullopt;
  }
  std::optional<MatmulPlan> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t columns = widest; columns >= leastExtent; columns /= 2) {
    for (int64_t rows = plan.transposeA ? tallestTransposed : tallest; rows >= leastExtent; rows /= 2) {
      MatmulPlan candidate = plan.inPanels(rows, columns);
      if (const double nanoseconds = packedCost(candidate); nanoseconds < least) {
        least = nanoseconds;
        best = std::move(candidate);
      }
    }
  }
  return best;
}

std::optional<MatmulPlan> constantPanels(const MatmulPlan& plan, ElementType type) {
  const int64_t bytesOfB = plan.inner * plan.columns * byteWidth(type);
  if ((type != ElementType::F32 && type != ElementType::BF16) || plan.rows < 2 || bytesOfB < leastConstant) {
    return std::nullopt;
  }
  std::optional<MatmulPlan> best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t columns = widestConstant; columns >= narrowestConstant; columns /= 2) {
    for (int64_t rows = tallest; rows >= leastExtent; rows /= 2) {
      MatmulPlan candidate = plan.inPanels(rows, columns);
      if (const double nanoseconds = constantCost(candidate, byteWidth(type)); nanoseconds < least) {
        least = nanoseconds;
        best = std::move(candidate);
      }
    }
  }
  return best;
}

} // namespace dfc
