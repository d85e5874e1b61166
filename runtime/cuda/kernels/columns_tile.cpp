// Tiles of columns. A warp's accesses are stretches of 64 to 512 bytes, as wide as the rows leave room for. A
// thread holds 32 values of f32, so that four blocks of 256 threads share a multiprocessor and some load
// while others calculate.
#include "runtime/cuda/kernels/columns.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view tileText = R"(
constexpr int neighbours = columns * width, stretch = lanes * perThread;
constexpr int all = lanes > width ? lanes / width : 1, groups = all < 8 ? all : 8; // of lanes, merged at once
struct Shared { Totals ofLanes[lanes][neighbours]; };
struct Tile {
  Pack<Element, width> packs[perThread];
  Index row, base, begin, end; // classes begin, begin + lanes, ... below end
};
// `end` is 0 where there is no such row.
DFC_INLINE void place(Tile& tile, Index slab, Index first) {
  tile.row = (slab * columns + threadIdx.x % columns) * width;
  tile.base = tile.row / inner * (classes * inner) + tile.row % inner;
  tile.begin = first + threadIdx.x / columns;
  tile.end = tile.row >= rows ? 0 : first + stretch < classes ? first + stretch : classes;
}
DFC_INLINE void load(Tile& tile, const Element* from) {
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index c = tile.begin + n * lanes;
    if (c < tile.end) tile.packs[n] = loadPack<width>(from + tile.base + c * inner);
  }
}
// Absent elements are -infinity and count nothing, but for a row that is -infinity, which is NaN anyway.
DFC_INLINE void sumUp(const Tile& tile, Shared& shared) {
#pragma unroll
  for (int k = 0; k < width; ++k) {
    Real x[perThread];
#pragma unroll
    for (int n = 0; n < perThread; ++n) x[n] = tile.begin + n * lanes < tile.end ? valueOf(tile.packs[n].at[k]) : start().most;
    Totals totals = {mostOf(start().most, x), Real(0)};
#pragma unroll
    for (int n = 0; n < perThread; ++n) totals.sum += powerOf(x[n], totals.most);
    shared.ofLanes[threadIdx.x / columns][k * columns + threadIdx.x % columns] = totals;
  }
}
// Lanes first, first + step, ... of a column as one; few at a time, for they are held beside the tile.
template <int count, int step> DFC_INLINE Totals mergedLanes(const Shared& shared, int first, int column) {
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
DFC_INLINE void mergeGroups(Shared& shared) {
  __syncthreads();
  for (int i = threadIdx.x; i < groups * neighbours; i += columns * lanes) {
    const int group = i / neighbours, column = i % neighbours;
    shared.ofLanes[group][column] = mergedLanes<lanes / groups, groups>(shared, group, column);
  }
  __syncthreads();
}
DFC_INLINE void writeResults(const Tile& tile, const Row (&known)[width], Element* to) {
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index c = tile.begin + n * lanes;
    if (c >= tile.end) continue;
    Pack<Element, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const Real x = valueOf(tile.packs[n].at[k]);
      pack.at[k] = stored<Element>(result(known[k], x, powerOf(x, known[k].most), c));
    }
    storePack(to + tile.base + c * inner, pack);
  }
}
)";

// Classes that a thread holds at most.
int64_t mostPerThread(ElementType element, int64_t width) {
  return std::clamp<int64_t>((element == ElementType::F64 ? 16 : 32) / width, 4, 16);
}

int64_t packWidth(ElementType element, int64_t width) { return width * byteWidth(element); }

} // namespace

std::optional<ColumnTile> wholeColumns(ElementType element, int64_t classes, int64_t packs, int64_t width) {
  const int64_t most = mostPerThread(element, width), bytes = packWidth(element, width);
  const int64_t available = powerOf2From(packs), narrow = std::min(available, ceilDiv(64, bytes));
  // 512 bytes, or down to 128 where blocks would not fill the GPU otherwise, or columns not fit.
  int64_t columns = std::min<int64_t>(available, 32);
  while (columns * bytes > 128 && (packs / columns < 4 * multiprocessors || 256 / columns * most < classes)) {
    columns /= 2;
  }
  int64_t threads = 256 / columns * most < classes ? 512 : 256;
  columns = threads / columns * most < classes ? narrow : columns;
  if (threads / columns * most < classes) {
    return std::nullopt;
  }
  // Where there is little to do, more threads do less each.
  const bool few = packs * classes < residentThreads * most / 2;
  const int64_t lanes = std::min(threads / columns, powerOf2From(ceilDiv(classes, few ? 2 : most)));
  while (columns * lanes < 128 && packs / columns >= 8 * multiprocessors) {
    columns *= 2;
  }
  return ColumnTile{width, columns, lanes, ceilDiv(classes, lanes)};
}

ColumnTile partOfColumns(ElementType element, int64_t classes, int64_t packs, int64_t width) {
  // 64 neighbours at most: what merges the parts of a slab is one block.
  const int64_t wide = std::min<int64_t>({256 / packWidth(element, width), 64 / width, 32});
  const int64_t columns = std::min(powerOf2From(packs), wide), lanes = 256 / columns;
  return {width, columns, lanes, std::min(mostPerThread(element, width), ceilDiv(classes, lanes))};
}

std::string columnTileText(const ColumnTile& tile) {
  return constant("columns", tile.columns) + constant("lanes", tile.lanes) +
         constant("perThread", tile.perThread) + std::string(tileText);
}

int64_t columnTileShared(const ColumnTile& tile, ElementType element) {
  return tile.lanes * tile.neighbours() * (element == ElementType::F64 ? 16 : 8);
}

} // namespace dfc::cuda
