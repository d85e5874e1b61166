// softmaxCrossEntropy: each row's loss from one sweep over it, by lanes of a warp, a warp or a block, with
// all loads of some 32 values a thread under way at once, long rows in aligned packs whatever their length.
// Losses are summed in an order fixed by the shape: by a thread over its rows, by a block, and by a second
// launch where there is more than one block.
#include "compiler/lower/kernels/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view lossText = R"(
using Label = $Label$;
struct Shared : Agreement { Real sums[threads / 32]; };
DFC_INLINE void addPacks(Totals& into, const Element* row, Index first, Index tail) {
  Pack<Element, width> packs[together];
#pragma unroll
  for (int n = 0; n < together; ++n) {
    const Index column = first + n * (lanes * width);
    if (column < tail) packs[n] = loadPack<width>(row + column);
  }
  Real x[together * width];
#pragma unroll
  for (int n = 0; n < together; ++n) {
    const bool inside = first + n * (lanes * width) < tail;
#pragma unroll
    for (int k = 0; k < width; ++k) x[n * width + k] = inside ? valueOf(packs[n].at[k]) : start().most;
  }
  add(into, x);
}
// The loss of one row, known to its first lane. A label outside the classes gives NaN.
DFC_INLINE Real lossOf(const Element* row, const RowPacks& packs, Label label, Index first, Shared& shared) {
  const bool known = first == 0 && label >= 0 && i64(label) < i64(classes);
  const Real wanted = known ? valueOf(row[label]) : $nan$; // asked for before the row, not waited for after it
  const Real beside[1] = {packs.beside < classes ? valueOf(row[packs.beside]) : start().most};
  Totals totals = start();
#pragma unroll 1
  for (Index pass = 0; pass < passes; ++pass) {
    addPacks(totals, row, packs.head + first + pass * (lanes * width * together), packs.tail);
  }
  if (peeled) add(totals, beside);
  totals = agreed<0>(totals, shared);
  return first == 0 ? logOf(totals.sum) - (wanted - totals.most) : Real(0);
}
)";

// The sum over a block, for its first thread.
constexpr std::string_view blockSumText = R"(
DFC_INLINE Real blockSum(Real sum, Real (&ofWarps)[threads / 32]) {
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = ofWarps[0];
  for (int warp = 1; warp < threads / 32; ++warp) sum += ofWarps[warp];
  return sum;
}
)";

constexpr std::string_view rowsText = R"(
DFC_INLINE void run(const Element* from, const Label* labels, $Written$* to, const Block& block, Shared& shared) {
  Real sum = 0;
  // Every thread of the block runs every iteration: `agreed` is a barrier of the block.
  for (Index part = block.x; part < ($rows$ + threads / lanes - 1) / (threads / lanes); part += block.count) {
    const Index row = part * (threads / lanes) + threadIdx.x / lanes;
    const Index safe = row < $rows$ ? row : 0, base = safe * classes;
    const Real loss = lossOf(from + base, packsOf(base), labels[safe], threadIdx.x % lanes * width, shared);
    sum += row < $rows$ ? loss : Real(0);
    if (lanes > 32) __syncthreads(); // before they agree again
  }
  sum = blockSum(sum, shared.sums);
  if (threadIdx.x == 0) to[block.x] = $finish$;
}
)";

constexpr std::string_view meanText = R"(
struct Shared { Real sums[threads / 32]; };
DFC_INLINE void run(const Real* from, $Loss$* to, const Block&, Shared& shared) {
  Real sum = 0;
#pragma unroll 8
  for (int n = threadIdx.x; n < $blocks$; n += threads) sum += from[n];
  sum = blockSum(sum, shared.sums);
  if (threadIdx.x == 0) to[0] = stored<$Loss$>(sum / Real($rows$ll));
}
)";

std::string nanOf(ElementType element) {
  return element == ElementType::F64 ? "__longlong_as_double(0x7ff8000000000000ll)"
                                     : "__int_as_float(0x7fc00000)";
}

// No rows: the mean of nothing. No classes: every label is wrong.
GeneratedKernels nothing(ElementType element, const GpuShape& gpu) {
  std::string value;
  switch (element) {
  case ElementType::F64: value = "0x7ff8000000000000ull"; break;
  case ElementType::F16: value = "0x7e00"; break;
  case ElementType::BF16: value = "0x7fc0"; break;
  default: value = "0x7fc00000u"; break;
  }
  return streamedChain(constantChain(1, element, value), gpu);
}

/// `lanes` threads for a row, which have `together` packs of it at once, in so many passes.
struct LossPlan {
  int64_t width = 1, lanes = 1, together = 1, passes = 1, threads = 256, blocks = 1;
  bool peeled = false; ///< rows begin and end inside packs

  void setTogether(int64_t most, int64_t packs) {
    together = std::min(most, ceilDiv(packs, lanes));
    passes = ceilDiv(packs, lanes * together);
  }
};

LossPlan planOf(ElementType element, int64_t rows, int64_t classes, const GpuShape& gpu) {
  LossPlan plan;
  const int64_t whole = packBytes / byteWidth(element), common = commonPowerOf2(whole, {classes});
  plan.peeled = common < whole && classes / whole > 32 * 8; // of rows that a block takes
  plan.width = plan.peeled ? whole : common;
  const int64_t packs = classes / plan.width, most = std::min<int64_t>(8, 32 / plan.width);
  plan.lanes = std::min<int64_t>(32, powerOf2From(ceilDiv(packs, 4)));
  // Small problems: one block of up to 8 packs a thread costs less than the second launch that adds the sums
  // of several blocks. Not for long rows: there are fewer of them than the block has warps.
  const bool longRows = packs > 32 * 8;
  if (rows * packs <= 8 * 1024 && !longRows) {
    plan.threads = 1024;
    plan.setTogether(4, packs);
    return plan;
  }
  if (longRows) { // a block; where rows are few, a large one
    plan.lanes = plan.threads =
        std::clamp<int64_t>(powerOf2From(packs / 8), 64, rows < 4 * gpu.multiprocessors ? 1024 : 256);
  }
  plan.setTogether(most, packs);
  const int64_t groups = ceilDiv(rows, plan.threads / plan.lanes), mostBlocks = 128 * gpu.multiprocessors;
  plan.blocks = ceilDiv(groups, ceilDiv(groups, mostBlocks));
  return plan;
}

int64_t realBytes(ElementType element) { return element == ElementType::F64 ? 8 : 4; }

std::string sumOf(int64_t threads) { return constant("threads", threads) + std::string(blockSumText); }

GeneratedLaunch lossLaunch(const LossPlan& plan, OperandTypes operands, ElementType loss,
                           int64_t rowsOfWhole) {
  const ElementType element = operands[0].element;
  const int64_t rows = operands[0].shape[0], classes = operands[0].shape[1];
  const IndexText index(rows * classes);
  const std::string mean = fmt::format("stored<{}>(sum / Real({}ll))", storageName(loss), rowsOfWhole);
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\n", index.type()) + rowTotalsText(element) + sumOf(plan.threads) +
      constant("Index", "classes", index.of(classes)) + constant("width", plan.width) +
      constant("lanes", plan.lanes) + constant("together", plan.together) +
      constant("Index", "passes", index.of(plan.passes)) + rowPacksText(plan.peeled) +
      agreedText(plan.lanes, "Agreement") +
      filled(lossText, {{"Label", std::string(storageName(operands[1].element))}, {"nan", nanOf(element)}}) +
      filled(rowsText, {{"Written", plan.blocks == 1 ? std::string(storageName(loss)) : "Real"},
                        {"rows", index.of(rows)},
                        {"finish", plan.blocks == 1 ? mean : "sum"}});
  launch.grid[0] = static_cast<uint32_t>(plan.blocks);
  launch.threads = static_cast<uint32_t>(plan.threads);
  launch.barriers = true;
  launch.sharedBytes =
      static_cast<uint32_t>(plan.threads / 32 * realBytes(element) + agreementBytes(plan.lanes, element));
  launch.arguments = {{Argument::From::Operand, 0, 0},
                      {Argument::From::Operand, 1, 0},
                      {plan.blocks == 1 ? Argument::From::Result : Argument::From::Workspace, 0, 0}};
  return launch;
}

GeneratedLaunch meanLaunch(int64_t blocks, const TensorType& logits, ElementType loss, int64_t rowsOfWhole) {
  const int64_t threads = blocks <= 2048 ? 256 : 1024;
  GeneratedLaunch launch;
  launch.code = rowTotalsText(logits.element) + sumOf(threads) +
                filled(meanText, {{"blocks", std::to_string(blocks)},
                                  {"rows", std::to_string(rowsOfWhole)},
                                  {"Loss", std::string(storageName(loss))}});
  launch.threads = static_cast<uint32_t>(threads);
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(threads / 32 * realBytes(logits.element));
  launch.arguments = {{Argument::From::Workspace, 0, 0}, {Argument::From::Result, 0, 0}};
  return launch;
}

} // namespace

GeneratedKernels crossEntropyKernel(const ops::SoftmaxCrossEntropy& op, OperandTypes operands,
                                    ElementType loss, const GpuShape& gpu) {
  const TensorType& logits = operands[0];
  if (logits.shape.elements() == 0) {
    return nothing(loss, gpu);
  }
  const LossPlan plan = planOf(logits.element, logits.shape[0], logits.shape[1], gpu);
  const int64_t rows = op.rows != 0 ? op.rows : logits.shape[0];
  GeneratedKernels work{{lossLaunch(plan, operands, loss, rows)}, 0};
  if (plan.blocks > 1) {
    work.launches.push_back(meanLaunch(plan.blocks, logits, loss, rows));
    work.workspaceBytes = plan.blocks * 8;
  }
  return work;
}

} // namespace dfc::cuda
