// quantizedMatmul of few rows: every byte of the matrix is read once, and its integers become f32 in
// registers. As in row_product.cpp, the lanes of a warp walk a row of the matrix for `together` columns at
// once, and `sharers` warps share it. An integer below 2^23 is the low end of a float's mantissa: 2^23 + q,
// less 2^23 and what q counts from, is exact.
#include "compiler/lower/kernels/families.h"
#include "compiler/lower/kernels/products/warp_sums.h"
#include "ir/graph/ops/quantized_matmul.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view quantizedText = R"(
struct Shared { f32 at[rows][sharers][blockColumns]; };

// The integers of a load.
DFC_INLINE void integersOf(const Pack<u8, pack>& bytes, f32 (&to)[elements]) {
#pragma unroll
  for (int e = 0; e < elements; ++e) {
    const u32 byte = bytes.at[e / perByte], q = perByte == 1 ? byte : byte >> e % 2 * 4 & 15u;
    to[e] = __uint_as_float(0x4b000000u | q) - (8388608.0f + f32(zero));
  }
}

DFC_INLINE void run(const Element* a, const u8* weights, const Element* scales, Element* to, const Block& block,
                    Shared& shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sharer = warp % sharers;
  const int own = warp / sharers * together, first = block.x * blockColumns;
  f32 sums[rows][together] = {};
#pragma unroll unroll
  for (int at = (sharer * 32 + lane) * pack; at < rowBytes; at += sharers * 32 * pack) {
    Pack<u8, pack> loaded[together];
    f32 scale[together];
#pragma unroll
    for (int c = 0; c < together; ++c) {
      const int column = first + own + c < columns ? first + own + c : columns - 1;
      loaded[c] = loadPack<pack>(weights + Index(column) * rowBytes + at);
      scale[c] = valueOf(scales[Index(column) * runs + at / runBytes]);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      f32 x[elements];
#pragma unroll
      for (int e = 0; e < elements; e += operandPack) {
        const auto part = loadPack<operandPack>(a + Index(r) * inner + at * perByte + e);
#pragma unroll
        for (int n = 0; n < operandPack; ++n) x[e + n] = valueOf(part.at[n]);
      }
#pragma unroll
      for (int c = 0; c < together; ++c) {
        f32 q[elements], sum = 0.0f;
        integersOf(loaded[c], q);
#pragma unroll
        for (int e = 0; e < elements; ++e) sum = fmaf(x[e], q[e], sum);
        sums[r][c] = fmaf(scale[c], sum, sums[r][c]);
      }
    }
  }
  storeWarpSums(sums, lane, sharer, own, shared);
  __syncthreads();
  for (int n = threadIdx.x; n < rows * blockColumns; n += threads) {
    const int r = n / blockColumns, c = n % blockColumns;
    if (first + c >= columns) continue;
    f32 sum = 0.0f;
#pragma unroll
    for (int s = 0; s < sharers; ++s) sum += shared.at[r][s][c];
    to[Index(r) * columns + (first + c)] = stored<Element>(sum);
  }
}
)";

} // namespace

GeneratedKernels quantizedProductKernel(const ops::QuantizedMatmul& op, OperandTypes operands,
                                        const GpuShape& gpu) {
  constexpr int64_t threads = 256, warps = threads / 32;
  const Shape &a = operands[0].shape, &weights = operands[1].shape;
  const int64_t inner = a[a.rank() - 1], rows = a.elements() / inner, columns = weights[0];
  const int64_t rowBytes = weights[1], runs = operands[2].shape[1], perByte = op.perByte();
  const int64_t pack = commonPowerOf2(packBytes, {rowBytes, rowBytes / runs}), elements = pack * perByte;
  int64_t together = 1, sharers = 1;
  const int64_t wanted = 2 * warps * gpu.multiprocessors;
  while (together < 4 && together * 2 * rows <= 16 && columns / (together * 2) >= wanted) {
    together *= 2;
  }
  while (sharers < warps && columns / together * sharers < wanted && sharers * 2 * 32 * pack <= rowBytes) {
    sharers *= 2;
  }
  const int64_t blockColumns = warps / sharers * together;
  const IndexText index(std::max({weights.elements(), a.elements(), rows * columns}));
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\n", index.type(),
                  storageName(operands[0].element)) +
      constant("rows", rows) + constant("columns", columns) + constant("inner", inner) +
      constant("rowBytes", rowBytes) + constant("runs", runs) + constant("runBytes", rowBytes / runs) +
      constant("perByte", perByte) + constant("pack", pack) + constant("elements", elements) +
      constant("operandPack", commonPowerOf2(packBytes / byteWidth(operands[0].element), {elements, inner})) +
      constant("zero", op.zero()) + constant("threads", threads) + constant("together", together) +
      constant("sharers", sharers) + constant("blockColumns", blockColumns) +
      constant("unroll", rows > 2 ? 1 : 2) + std::string(warpSumsText) + std::string(quantizedText);
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(columns, blockColumns));
  launch.threads = static_cast<uint32_t>(threads);
  launch.sharedBytes = static_cast<uint32_t>(rows * sharers * blockColumns * 4);
  launch.barriers = true;
  launch.arguments = {{Argument::From::Operand, 0},
                      {Argument::From::Operand, 1},
                      {Argument::From::Operand, 2},
                      {Argument::From::Result, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
