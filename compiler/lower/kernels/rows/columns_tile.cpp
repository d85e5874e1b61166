// Tiles of columns. A warp's accesses are runs of 64 to 512 bytes, as wide as the rows leave room for. A
// thread holds 32 values of f32, so that several blocks share a multiprocessor and some load while others
// calculate.
#include "compiler/lower/kernels/rows/columns.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view tileText = R"(
constexpr int neighbours = columns * width, extent = lanes * perThread;
constexpr int all = lanes > width ? lanes / width : 1, groups = all < 8 ? all : 8; // of lanes, merged at once
struct Lanes { Totals ofLanes[lanes][neighbours]; };
struct Tile {
  Pack<Element, width> packs[perThread];
  Index row, base, begin, end; // classes begin, begin + lanes, ... below end
};
// `end` is 0 where there is no such row.
DFC_INLINE void place(Tile& tile, Index slab, Index first) {
  tile.row = (slab * columns + threadIdx.x % columns) * width;
  tile.base = tile.row / inner * (classes * inner) + tile.row % inner;
  tile.begin = first + threadIdx.x / columns;
  tile.end = tile.row >= rows ? 0 : first + extent < classes ? first + extent : classes;
}
// valueOf, told to be done where it is asked for: a tile's values, all converted at once, would need twice the
// registers of its packs.
template <class S> DFC_INLINE auto valueHere(S a) { return valueOf(a); }
#ifndef DFC_ON_HOST
DFC_INLINE f32 valueHere(bf16 a) {
  f32 value;
  asm("mov.b32 %0, {%2, %1};" : "=f"(value) : "h"(a.bits), "h"(u16(0)));
  return value;
}
#endif
using Raw = typename RawOf<int(sizeof(Element)) * width>::Type;
// `once`: the L2 cache need not keep it.
template <bool once> DFC_INLINE void load(Tile& tile, const Element* from) {
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index c = tile.begin + n * lanes;
    if (c >= tile.end) continue;
    PackBits<Element, width> bits;
    const Raw* const at = reinterpret_cast<const Raw*>(from + tile.base + c * inner);
    bits.raw = once ? __ldcs(at) : *at;
    tile.packs[n] = bits.pack;
  }
}
// Absent elements are -infinity and count nothing. A sum is never zero: it is 1 where all is -infinity, which
// counts nothing beside anything else.
DFC_INLINE void sumUp(const Tile& tile, Lanes& shared) {
#pragma unroll
  for (int k = 0; k < width; ++k) {
    Real x[perThread];
#pragma unroll
    for (int n = 0; n < perThread; ++n) x[n] = tile.begin + n * lanes < tile.end ? valueHere(tile.packs[n].at[k]) : start().most;
    const Real most = mostOf(start().most, x), from = most == start().most ? Real(0) : most;
    Real sum = 0;
#pragma unroll
    for (int n = 0; n < perThread; ++n) sum += expOf(x[n] - from);
    shared.ofLanes[threadIdx.x / columns][k * columns + threadIdx.x % columns] = {most, sum == Real(0) ? Real(1) : sum};
  }
}
// Lanes first, first + step, ... of a column as one; few at a time, for they are held beside the tile.
template <int count, int step> DFC_INLINE Totals mergedLanes(const Lanes& shared, int first, int column) {
  if constexpr (count > 8) {
    Totals half = mergedLanes<count / 2, step>(shared, first, column);
    merge(half, mergedLanes<count / 2, step>(shared, first + count / 2 * step, column));
    return half;
  } else {
    Totals list[count];
#pragma unroll
    for (int n = 0; n < count; ++n) list[n] = shared.ofLanes[first + n * step][column];
    return merged(list);
  }
}
// The first `groups` lanes get what all lanes of their group have.
DFC_INLINE void mergeGroups(Lanes& shared) {
  __syncthreads();
  for (int i = threadIdx.x; i < groups * neighbours; i += columns * lanes) {
    const int group = i / neighbours, column = i % neighbours;
    shared.ofLanes[group][column] = mergedLanes<lanes / groups, groups>(shared, group, column);
  }
  __syncthreads();
}
// A row whose maximum is infinite is NaN, whatever its powers are.
template <bool once> DFC_INLINE void writeResults(const Tile& tile, const Row (&known)[width], Element* to) {
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index c = tile.begin + n * lanes;
    if (c >= tile.end) continue;
    PackBits<Element, width> bits;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const Real x = valueHere(tile.packs[n].at[k]);
      bits.pack.at[k] = stored<Element>(result(known[k], x, expOf(x - known[k].most), c));
    }
    Raw* const at = reinterpret_cast<Raw*>(to + tile.base + c * inner);
    if (once) __stcs(at, bits.raw);
    else *at = bits.raw;
  }
}
)";

constexpr std::string_view clearText = R"(
struct Shared {};
DFC_INLINE void run(uint4* words, const Block& block, Shared&) {
  const u32 i = block.x * $threads$u + threadIdx.x;
  if (i < $count$u) words[i] = {0, 0, 0, 0};
}
)";

int64_t packWidth(ElementType element, int64_t width) { return width * byteWidth(element); }

// Classes that a thread holds at most, in 32 registers.
int64_t mostPerThread(ElementType element, int64_t width) {
  return std::min<int64_t>(16, 128 / packWidth(element, width));
}

} // namespace

std::optional<ColumnTile> wholeColumns(ElementType element, int64_t classes, int64_t packs, int64_t width,
                                       const GpuShape& gpu) {
  const int64_t most = mostPerThread(element, width), bytes = packWidth(element, width);
  const int64_t available = powerOf2From(packs), narrow = std::min(available, ceilDiv(64, bytes));
  // 512 bytes, or down to 128 where blocks would not fill the GPU otherwise, or columns not fit.
  int64_t columns = std::min<int64_t>(available, 32);
  while (columns * bytes > 128 &&
         (packs / columns < 4 * gpu.multiprocessors || 256 / columns * most < classes)) {
    columns /= 2;
  }
  int64_t threads = 256 / columns * most < classes ? 512 : 256;
  columns = threads / columns * most < classes ? narrow : columns;
  if (threads / columns * most < classes) {
    return std::nullopt;
  }
  // Where there is little to do, more threads do less each.
  const bool few = packs * classes < gpu.residentThreads() * most / 2;
  const int64_t lanes = std::min(threads / columns, powerOf2From(ceilDiv(classes, few ? 2 : most)));
  while (columns * lanes < 128 && packs / columns >= 8 * gpu.multiprocessors) {
    columns *= 2;
  }
  return ColumnTile{width, columns, lanes, ceilDiv(classes, lanes)};
}

ColumnTile partOfColumns(ElementType element, int64_t classes, int64_t packs, int64_t width) {
  // 64 neighbours at most: what merges the parts of a slab is one block.
  const int64_t wide = std::min<int64_t>({256 / packWidth(element, width), 64 / width, 32});
  const int64_t columns = std::min(powerOf2From(packs), wide), lanes = 512 / columns;
  return {width, columns, lanes, std::min(mostPerThread(element, width), ceilDiv(classes, lanes))};
}

std::string columnTileText(const ColumnTile& tile) {
  return constant("columns", tile.columns) + constant("lanes", tile.lanes) +
         constant("perThread", tile.perThread) + std::string(tileText);
}

int64_t columnTileShared(const ColumnTile& tile, ElementType element) {
  return tile.lanes * tile.neighbours() * totalsBytes(element);
}

GeneratedLaunch clearedWorkspace(int64_t bytes) {
  constexpr int64_t threads = 256;
  const int64_t count = ceilDiv(bytes, packBytes);
  GeneratedLaunch launch;
  launch.code = filled(clearText, {{"threads", std::to_string(threads)}, {"count", std::to_string(count)}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(count, threads));
  launch.threads = threads;
  launch.arguments = {{Argument::From::Workspace, 0, 0}};
  return launch;
}

} // namespace dfc::cuda
