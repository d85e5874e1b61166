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

} // namespace dfc
