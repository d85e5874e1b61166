// Softmax, logSoftmax and the cross-entropy gradient. Along the last axis: lanes of a warp, a warp or a block
// take a row, which stays in registers while they find its maximum, then its powers and their sum, then the
// results; a row too long for that is read twice, in aligned packs whatever its length. Another axis:
// columns_softmax.cpp.
#include "compiler/lower/kernels/rows/rows.h"
#include "ir/graph/rules/axis_view.h"
#include "ir/graph/rules/cross_entropy_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t softmaxPacks = 16; // of a row, in the registers of a thread

constexpr std::string_view residentSoftmaxText = R"(
DFC_INLINE void run(const Element* from, $parameters$Element* to, const Block& block, Shared& shared) {
  const Index row = Index(block.x) * (threads / lanes) + threadIdx.x / lanes;
  const Index first = threadIdx.x % lanes * width;
  const bool present = row < rows;
  Pack<Element, width> packs[perThread];
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index column = first + n * (lanes * width);
    if (present && column < classes) packs[n] = loadPack<width>(from + row * classes + column);
  }
  Real x[perThread * width];
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const bool inside = present && first + n * (lanes * width) < classes;
#pragma unroll
    for (int k = 0; k < width; ++k) x[n * width + k] = inside ? valueOf(packs[n].at[k]) : start().most;
  }
  // Absent elements are -infinity and count nothing, but for a row that is -infinity, which is NaN anyway.
  Totals totals = {mostOf(start().most, x), Real(0)};
  totals.most = agreed<0>(totals, shared).most;
  Real powers[perThread * width];
#pragma unroll
  for (int k = 0; k < perThread * width; ++k) totals.sum += powers[k] = powerOf(x[k], totals.most);
  totals = agreed<1>(totals, shared);
  if (!present) return;
  const Row known = rowOf(totals, row$arguments$);
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index column = first + n * (lanes * width);
    if (column >= classes) continue;
    Pack<Element, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = stored<Element>(result(known, x[n * width + k], powers[n * width + k], column + k));
    storePack(to + row * classes + column, pack);
  }
}
)";

constexpr std::string_view streamedSoftmaxText = R"(
DFC_INLINE void unpacked(Real (&x)[width], const Pack<Element, width>& pack) {
#pragma unroll
  for (int k = 0; k < width; ++k) x[k] = valueOf(pack.at[k]);
}
DFC_INLINE void run(const Element* from, $parameters$Element* to, const Block& block, Shared& shared) {
  const Index row = block.x, base = row * classes;
  const RowPacks packs = packsOf(base);
  const Index first = packs.head + threadIdx.x * width;
  const Real beside[1] = {packs.beside < classes ? valueOf(from[base + packs.beside]) : start().most};
  Totals totals = start();
  Real x[width];
#pragma unroll 4
  for (Index column = first; column < packs.tail; column += threads * width) {
    unpacked(x, loadPack<width>(from + base + column));
    add(totals, x);
  }
  if (peeled) add(totals, beside);
  const Row known = rowOf(agreed<0>(totals, shared), row$arguments$);
#pragma unroll 4
  for (Index column = first; column < packs.tail; column += threads * width) {
    unpacked(x, loadPack<width>(from + base + column));
    Pack<Element, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = stored<Element>(result(known, x[k], powerOf(x[k], known.most), column + k));
    storePack(to + base + column, pack);
  }
  if (packs.beside < classes) to[base + packs.beside] = stored<Element>(result(known, beside[0], powerOf(beside[0], known.most), packs.beside));
}
)";

std::string rowCount(int64_t rows, int64_t classes) {
  return constant("Index", "rows", IndexText(rows * classes).of(rows));
}

// Threads per row of `packs` packs. A thread takes 4 packs of a short row, and 8 where one warp then covers
// the row or where the row needs several warps anyway. At most 512 threads, so that two blocks are resident
// on a multiprocessor; a thread of theirs takes up to 16 packs.
int64_t softmaxLanes(int64_t packs) {
  const int64_t lanes = powerOf2From(ceilDiv(packs, 4));
  return packs <= 32 * 8 ? std::min<int64_t>(32, lanes) : std::clamp<int64_t>(lanes / 2, 64, 512);
}

GeneratedKernels lastAxis(const RowFormula& formula, int64_t rows, int64_t classes, const GpuShape& gpu) {
  const int64_t whole = packBytes / byteWidth(formula.element), common = commonPowerOf2(whole, {classes});
  const bool resident = classes / common <= softmaxLanes(classes / common) * softmaxPacks;
  const bool peeled = !resident && common < whole;
  const int64_t width = peeled ? whole : common, packs = classes / width, lanes = softmaxLanes(packs);
  const int64_t threads = lanes > 32 ? lanes : rows * lanes >= gpu.multiprocessors * 256 ? 256 : 64;
  const std::string parameters =
      fmt::format("const {}* labels, const {}* cotangent, ", formula.label, formula.loss);
  const bool gradient = formula.kind == RowFormula::Kind::CrossEntropyGradient;
  GeneratedLaunch launch;
  launch.code = rowsHead(formula, rows, classes, width) + constant("threads", threads) +
                constant("lanes", lanes) +
                (resident ? constant("perThread", ceilDiv(packs, lanes)) + rowCount(rows, classes)
                          : rowPacksText(peeled)) +
                agreedText(lanes) +
                filled(resident ? residentSoftmaxText : streamedSoftmaxText,
                       {{"parameters", gradient ? parameters : ""},
                        {"arguments", gradient ? ", labels, cotangent" : ""}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(rows, threads / lanes));
  launch.threads = static_cast<uint32_t>(threads);
  launch.barriers = lanes > 32;
  launch.sharedBytes = static_cast<uint32_t>(agreementBytes(lanes, formula.element));
  for (uint32_t operand = 0; operand < (gradient ? 3U : 1U); ++operand) {
    launch.arguments.push_back({Argument::From::Operand, operand, 0});
  }
  launch.arguments.push_back({Argument::From::Result, 0, 0});
  return {{std::move(launch)}, 0};
}

} // namespace

GeneratedKernels softmaxKernel(int64_t axis, bool logarithm, const TensorType& type, const GpuShape& gpu) {
  const AxisView view(type.shape, axis);
  const RowFormula formula{logarithm ? RowFormula::Kind::LogSoftmax : RowFormula::Kind::Softmax, type.element,
                           "", ""};
  return view.inner == 1 ? lastAxis(formula, view.outer, view.length, gpu)
                         : columnsSoftmax(formula, view.outer, view.length, view.inner, gpu);
}

GeneratedKernels crossEntropyGradientKernel(const ops::SoftmaxCrossEntropyGradient& op, OperandTypes operands,
                                            const GpuShape& gpu) {
  const RowFormula formula{RowFormula::Kind::CrossEntropyGradient, operands[0].element,
                           std::string(storageName(operands[1].element)),
                           std::string(storageName(operands[2].element)), rowsOfWhole(op.rows, operands)};
  return lastAxis(formula, operands[0].shape[0], operands[0].shape[1], gpu);
}

} // namespace dfc::cuda
