// layerNorm and rmsNorm: lanes of a warp, a warp or a block take a row, in packs of 16 bytes, which stays in
// registers between the sweeps; a row too long for that is read again. In f32 (f64 for f64): the mean first,
// then the squares of what is left, and what the mean was off by, which their sum tells (the corrected
// two-pass algorithm of Chan, Golub and LeVeque, 1983).
#include "compiler/lower/kernels/families.h"
#include "compiler/lower/kernels/rows/rows.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t normPacks = 8; // of a row, in the registers of a thread

constexpr std::string_view normText = R"(
struct Totals { Real first, squares; };
DFC_INLINE void merge(Totals& into, const Totals& from) {
  into.first += from.first;
  into.squares += from.squares;
}
DFC_INLINE Totals shuffled(const Totals& totals, int lane) {
  return {__shfl_xor_sync(0xffffffffu, totals.first, lane), __shfl_xor_sync(0xffffffffu, totals.squares, lane)};
}
DFC_INLINE Totals settled(const Totals& totals) { return totals; }
struct Row { Real mean, off, inverse; };
DFC_INLINE Row rowOf(Real mean, const Totals& totals) {
  const Real off = $off$, square = totals.squares / Real(length) - off * off;
  return {mean, off, Real(1) / rootOf((square > Real(0) || isNan(square) ? square : Real(0)) + $epsilon$)};
}
DFC_INLINE Written result(const Row& row, Real x, Index column, const Element* scale$parameter$) {
  const Real normal = ((x - row.mean) - row.off) * row.inverse;
  return stored<Written>(normal * Real(valueOf(scale[column]))$bias$);
}
)";

constexpr std::string_view residentNormText = R"(
template <class After>
DFC_INLINE void run($parameters$, const Block& block, Shared& shared, const After& after) {
  const Index row = Index(block.x) * (threads / lanes) + threadIdx.x / lanes;
  const Index first = threadIdx.x % lanes * width;
  const bool present = row < rows;
  Pack<Element, width> packs[perThread];
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index column = first + n * (lanes * width);
    if (present && column < length) packs[n] = loadPack<width>(from + row * length + column);
  }
  Real x[perThread * width];
  Totals totals{Real(0), Real(0)};
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const bool inside = present && first + n * (lanes * width) < length;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      x[n * width + k] = inside ? valueOf(packs[n].at[k]) : Real(0);
      totals.first += x[n * width + k];
    }
  }
  const Real mean = $mean$;
  totals = {Real(0), Real(0)};
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const bool inside = present && first + n * (lanes * width) < length;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const Real distance = inside ? x[n * width + k] - mean : Real(0);
      totals.first += distance;
      totals.squares += distance * distance;
    }
  }
  const Row known = rowOf(mean, agreed<1>(totals, shared));
  if (!present) return;
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index column = first + n * (lanes * width);
    if (column >= length) continue;
    Pack<Written, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = result(known, x[n * width + k], column + k, scale$argument$);
    storePack(to + row * length + column, pack);
    after.template pack<width>(u64(row) * length + column);
  }
}
)";

constexpr std::string_view streamedNormText = R"(
template <class After>
DFC_INLINE void run($parameters$, const Block& block, Shared& shared, const After& after) {
  const Index base = Index(block.x) * length, first = threadIdx.x * width;
  Totals totals{Real(0), Real(0)};
#pragma unroll 4
  for (Index column = first; column < length; column += threads * width) {
    const Pack<Element, width> pack = loadPack<width>(from + base + column);
#pragma unroll
    for (int k = 0; k < width; ++k) totals.first += valueOf(pack.at[k]);
  }
  const Real mean = $mean$;
  totals = {Real(0), Real(0)};
#pragma unroll 4
  for (Index column = first; column < length; column += threads * width) {
    const Pack<Element, width> pack = loadPack<width>(from + base + column);
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const Real distance = valueOf(pack.at[k]) - mean;
      totals.first += distance;
      totals.squares += distance * distance;
    }
  }
  const Row known = rowOf(mean, agreed<1>(totals, shared));
#pragma unroll 4
  for (Index column = first; column < length; column += threads * width) {
    const Pack<Element, width> read = loadPack<width>(from + base + column);
    Pack<Written, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = result(known, valueOf(read.at[k]), column + k, scale$argument$);
    storePack(to + base + column, pack);
    after.template pack<width>(u64(base) + column);
  }
}
)";

// Threads for a row of so many packs: 4 packs each, or up to 8 where a warp then suffices.
int64_t normLanes(int64_t packs) {
  const int64_t lanes = powerOf2From(ceilDiv(packs, 4));
  return packs <= 32 * normPacks ? std::min<int64_t>(32, lanes) : std::min<int64_t>(1024, lanes);
}

std::string headOf(double epsilon, bool centred, bool biased, const TensorType& type, ElementType result) {
  const std::string real = type.element == ElementType::F64 ? "f64" : "f32";
  return fmt::format("using Real = {};\nusing Element = {};\nusing Written = {};\n", real,
                     storageName(type.element), storageName(result)) +
         filled(normText, {{"off", centred ? "totals.first / Real(length)" : "Real(0)"},
                           {"epsilon", fmt::format("Real({:a})", epsilon)},
                           {"parameter", biased ? ", const Element* bias" : ""},
                           {"bias", biased ? " + Real(valueOf(bias[column]))" : ""}});
}

} // namespace

GeneratedKernels normKernel(int64_t axis, double epsilon, bool centred, OperandTypes operands,
                            ElementType result, const GpuShape& gpu) {
  const TensorType& type = operands[0];
  const size_t first = *normalAxis(axis, type.shape.rank());
  const int64_t length = Shape(dimRange(type.shape).drop_front(first)).elements();
  const int64_t rows = type.shape.elements() / length;
  const int64_t width = commonPowerOf2(packBytes / byteWidth(type.element), {length});
  const int64_t packs = length / width, lanes = normLanes(packs);
  const bool resident = packs <= lanes * normPacks, biased = operands.size() > 2;
  const int64_t threads = lanes > 32 ? lanes : rows * lanes >= gpu.multiprocessors * 256 ? 256 : 64;
  const IndexText index(type.shape.elements() + threads * width);
  const std::string parameters = fmt::format("const Element* from, const Element* scale, {}Written* to",
                                             biased ? "const Element* bias, " : "");
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\n", index.type()) + constant("Index", "length", index.of(length)) +
      constant("width", width) + constant("threads", threads) + constant("lanes", lanes) +
      (resident ? constant("perThread", ceilDiv(packs, lanes)) + constant("Index", "rows", index.of(rows))
                : "") +
      headOf(epsilon, centred, biased, type, result) + agreedText(lanes) +
      filled(resident ? residentNormText : streamedNormText,
             {{"parameters", parameters},
              {"mean", centred ? "agreed<0>(totals, shared).first / Real(length)" : "Real(0)"},
              {"argument", biased ? ", bias" : ""}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(rows, threads / lanes));
  launch.threads = static_cast<uint32_t>(threads);
  launch.barriers = lanes > 32;
  launch.sharedBytes = static_cast<uint32_t>(agreementBytes(lanes, type.element));
  for (uint32_t operand = 0; operand < operands.size(); ++operand) {
    launch.arguments.push_back({Argument::From::Operand, operand, 0});
  }
  launch.arguments.push_back({Argument::From::Result, 0, 0, static_cast<uint8_t>(byteWidth(result))});
  launch.elements = type.shape.elements();
  launch.packWidth = width;
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
