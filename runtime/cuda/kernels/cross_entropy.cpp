// softmaxCrossEntropy: each row's loss from one sweep over it, summed in an order fixed by the shape: by a
// thread over its rows, by a block, and by a second launch where there is more than one block.
#include "runtime/cuda/kernels/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view lossText = R"(
using Label = $Label$;
// The loss of one row, known to its first lane. A label outside the classes gives NaN.
DFC_INLINE Real lossOf(const Element* row, Label label, Index first) {
  Totals totals = start();
#pragma unroll 4
  for (Index column = first; column < classes; column += lanes * width) {
    const Pack<Element, width> pack = loadPack<width>(row + column);
    Real x[width];
#pragma unroll
    for (int k = 0; k < width; ++k) x[k] = valueOf(pack.at[k]);
    add(totals, x);
  }
#pragma unroll
  for (int lane = lanes / 2; lane > 0; lane /= 2) merge(totals, shuffled(totals, lane));
  totals = settled(totals);
  if (first != 0) return Real(0);
  if (label < 0 || Index(label) >= classes) return $nan$;
  return logOf(totals.sum) - (valueOf(row[label]) - totals.most);
}
)";

// The sum over a block, for its first thread.
constexpr std::string_view sumText = R"(
struct Shared { Real ofWarps[threads / 32]; };
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
  // Whole warps go round together, so that their lanes can shuffle.
  for (Index part = block.x; part < ($rows$ + threads / lanes - 1) / (threads / lanes); part += block.count) {
    const Index row = part * (threads / lanes) + threadIdx.x / lanes;
    const Index safe = row < $rows$ ? row : 0;
    const Real loss = lossOf(from + safe * classes, labels[safe], threadIdx.x % lanes * width);
    sum += row < $rows$ ? loss : Real(0);
  }
  sum = blockSum(sum, shared.ofWarps);
  if (threadIdx.x == 0) to[block.x] = $finish$;
}
)";

constexpr std::string_view meanText = R"(
DFC_INLINE void run(const Real* from, Element* to, const Block&, Shared& shared) {
  Real sum = 0;
  for (int n = threadIdx.x; n < $blocks$; n += threads) sum += from[n];
  sum = blockSum(sum, shared.ofWarps);
  if (threadIdx.x == 0) to[0] = stored<Element>(sum / Real($rows$ll));
}
)";

std::string nan(ElementType element) {
  return element == ElementType::F64 ? "__longlong_as_double(0x7ff8000000000000ll)"
                                     : "__int_as_float(0x7fc00000)";
}

// No rows: the mean of nothing. No classes: every label is wrong.
GeneratedWork nothing(ElementType element) {
  std::string value;
  switch (element) {
  case ElementType::F64: value = "0x7ff8000000000000ull"; break;
  case ElementType::F16: value = "0x7e00"; break;
  case ElementType::BF16: value = "0x7fc0"; break;
  default: value = "0x7fc00000u"; break;
  }
  return streamedChain(constantChain(1, element, value));
}

} // namespace

GeneratedWork crossEntropyKernel(OperandTypes operands) {
  const ElementType element = operands[0].element;
  const int64_t rows = operands[0].shape[0], classes = operands[0].shape[1];
  if (rows * classes == 0) {
    return nothing(element);
  }
  const int64_t width = commonPowerOf2(packBytes / byteWidth(element), {classes});
  const int64_t packs = classes / width, lanes = std::min<int64_t>(32, powerOf2From(ceilDiv(packs, 4)));
  // Up to 8 packs a thread are quicker in one block than a second launch is.
  const int64_t threads = rows * packs <= 8 * 1024 ? 1024 : 256;
  const int64_t blocks =
      threads == 1024 ? 1 : std::min<int64_t>(ceilDiv(rows, threads / lanes), residentThreads / threads);
  const IndexText index(rows * classes);
  const std::string count = fmt::format("{}", rows);
  const std::string common = fmt::format("using Index = {};\n", index.type()) + rowTotalsText(element) +
                             constant("threads", threads) + std::string(sumText);
  GeneratedLaunch first;
  first.code =
      common + constant("Index", "classes", index.of(classes)) + constant("width", width) +
      constant("lanes", lanes) +
      filled(lossText, {{"Label", std::string(storageName(operands[1].element))}, {"nan", nan(element)}}) +
      filled(rowsText,
             {{"Written", blocks == 1 ? "Element" : "Real"},
              {"rows", index.of(rows)},
              {"finish", blocks == 1 ? fmt::format("stored<Element>(sum / Real({}ll))", count) : "sum"}});
  first.grid[0] = static_cast<uint32_t>(blocks);
  const auto sharedBytes = static_cast<uint32_t>(threads / 32 * (element == ElementType::F64 ? 8 : 4));
  first.threads = static_cast<uint32_t>(threads);
  first.barriers = true;
  first.sharedBytes = sharedBytes;
  first.arguments = {{Argument::From::Operand, 0, 0},
                     {Argument::From::Operand, 1, 0},
                     {blocks == 1 ? Argument::From::Result : Argument::From::Workspace, 0, 0}};
  GeneratedWork work{{std::move(first)}, 0};
  if (blocks > 1) {
    GeneratedLaunch second;
    second.code = common + filled(meanText, {{"blocks", fmt::format("{}", blocks)}, {"rows", count}});
    second.threads = static_cast<uint32_t>(threads);
    second.barriers = true;
    second.sharedBytes = sharedBytes;
    second.arguments = {{Argument::From::Workspace, 0, 0}, {Argument::From::Result, 0, 0}};
    work.launches.push_back(std::move(second));
    work.workspaceBytes = blocks * 8;
  }
  return work;
}

} // namespace dfc::cuda
