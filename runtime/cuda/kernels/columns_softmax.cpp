// Softmax and logSoftmax along an axis that is not the last, the operand read from memory once and the result
// written once. A row that fits into a block's registers stays there (columns_tile.cpp).
//
// Longer rows are read a second time, but out of the L2 cache: the tensor is walked in slabs of neighbouring
// rows, a few MiB each, and a slab's results follow some slabs behind its sums. One launch does all of it, in
// blocks of three kinds: a part of a slab is summed up; a slab's parts are merged; a part's results are
// written. Blocks wait for blocks, but only for earlier ones: blocks start in the order of their numbers, so
// that whom a block waits for never waits for it in turn (as in Merrill and Garland, Single-pass Parallel
// Prefix Scan with Decoupled Look-back, 2016). Who is done says so in a word of the workspace, which a launch
// before clears; nothing depends on who is first, so every run gives the same bits.
#include "runtime/cuda/kernels/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view wholeText = R"(
DFC_INLINE void run(const Element* from, Element* to, const Block& block, Shared& shared) {
  Tile tile;
  place(tile, block.x, 0);
  load(tile, from);
  sumUp(tile, shared);
  mergeGroups(shared);
  for (int column = threadIdx.x; column < neighbours; column += columns * lanes) {
    shared.ofLanes[0][column] = settled(mergedLanes<groups, 1>(shared, 0, column));
  }
  __syncthreads();
  if (tile.end == 0) return;
  Row known[width];
#pragma unroll
  for (int k = 0; k < width; ++k) {
    known[k] = rowOf(shared.ofLanes[0][k * columns + threadIdx.x % columns], tile.row + k);
  }
  writeResults(tile, known, to);
}
)";

constexpr std::string_view clearText = R"(
struct Shared {};
DFC_INLINE void run(u32* done, const Block& block, Shared&) {
  const u32 i = block.x * $threads$u + threadIdx.x;
  if (i < $count$u) done[i] = 0;
}
)";

constexpr std::string_view orderedText = R"(
constexpr u32 perRound = 2 * parts + 1;
// What a block wrote before it published is there for who has awaited it.
DFC_INLINE void publish(u32* done) {
#ifdef __CUDA_ARCH__
  asm volatile("fence.acq_rel.gpu;\n st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(done) : "memory");
#else
  *done = 1;
#endif
}
DFC_INLINE bool isDone(const u32* done) {
#ifdef __CUDA_ARCH__
  u32 word;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(done) : "memory");
  return word != 0;
#else
  return *done != 0;
#endif
}
DFC_INLINE void await(const u32* done) {
  while (!isDone(done)) {
#ifdef __CUDA_ARCH__
    asm volatile("nanosleep.u32 100;");
#endif
  }
}
DFC_INLINE void sumUpPart(const Element* from, Totals* to, u32* done, Index slab, Index part, Shared& shared) {
  Tile tile;
  place(tile, slab, part * stretch);
  load(tile, from);
  sumUp(tile, shared);
  mergeGroups(shared);
  for (int column = threadIdx.x; column < neighbours; column += columns * lanes) {
    to[column] = mergedLanes<groups, 1>(shared, 0, column);
  }
  __syncthreads();
  if (threadIdx.x == 0) publish(done);
}
DFC_INLINE void mergeParts(const Totals* from, const u32* doneParts, Totals* to, u32* done, Shared& shared) {
  for (u32 part = threadIdx.x; part < parts; part += columns * lanes) await(doneParts + part);
  __syncthreads();
  for (int i = threadIdx.x; i < groups * neighbours; i += columns * lanes) {
    const int group = i / neighbours, column = i % neighbours;
    Totals all = start();
    for (u32 part = group; part < parts; part += groups * together) {
      Totals list[together];
#pragma unroll
      for (int n = 0; n < together; ++n) {
        list[n] = part + n * groups < parts ? from[Index(part + n * groups) * neighbours + column] : start();
      }
      merge(all, merged(list));
    }
    shared.ofLanes[group][column] = all;
  }
  __syncthreads();
  for (int column = threadIdx.x; column < neighbours; column += columns * lanes) {
    to[column] = settled(mergedLanes<groups, 1>(shared, 0, column));
  }
  __syncthreads();
  if (threadIdx.x == 0) publish(done);
}
DFC_INLINE void writePart(const Element* from, const Totals* totals, const u32* done, Element* to, Index slab, Index part) {
  Tile tile;
  place(tile, slab, part * stretch);
  load(tile, from);
  if (threadIdx.x == 0) await(done);
  __syncthreads();
  if (tile.end == 0) return;
  Row known[width];
#pragma unroll
  for (int k = 0; k < width; ++k) known[k] = rowOf(totals[k * columns + threadIdx.x % columns], tile.row + k);
  writeResults(tile, known, to);
}
// A round sums up one slab, merges it, and writes another's results: sums and results alternate, so that
// memory is read and written at once.
DFC_INLINE void run(const Element* from, Element* to, u32* done, Totals* totals, const Block& block, Shared& shared) {
  const u32 round = block.x / perRound, at = block.x % perRound, part = at / 2;
  u32* const doneSlabs = done + slabs * parts;
  Totals* const ofSlabs = totals + Index(slabs) * parts * neighbours;
  if (at == 2 * parts) {
    if (round >= slabs) return;
    const u32 first = round * parts;
    mergeParts(totals + Index(first) * neighbours, done + first, ofSlabs + Index(round) * neighbours, doneSlabs + round, shared);
  } else if (at % 2 == 0) {
    if (round >= slabs) return;
    const u32 number = round * parts + part;
    sumUpPart(from, totals + Index(number) * neighbours, done + number, round, part, shared);
  } else if (round >= behind) {
    const u32 slab = round - behind;
    writePart(from, ofSlabs + Index(slab) * neighbours, doneSlabs + slab, to, slab, part);
  }
}
)";

constexpr int64_t together = 8; // parts, so that their maximum is found before their powers

std::string head(const RowFormula& formula, const ColumnTile& tile, int64_t outer, int64_t classes,
                 int64_t inner) {
  const IndexText index(outer * inner * classes);
  return rowsHead(formula, outer * inner, classes, tile.width) + constant("Index", "inner", index.of(inner)) +
         constant("Index", "rows", index.of(outer * inner)) + columnTileText(tile);
}

GeneratedLaunch tileLaunch(const ColumnTile& tile, ElementType element) {
  GeneratedLaunch launch;
  launch.threads = static_cast<uint32_t>(tile.threads());
  if (element != ElementType::F64) { // whose powers take more registers than 64
    launch.blocksAtOnce = static_cast<uint32_t>(std::min<int64_t>(16, 1024 / tile.threads()));
  }
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(columnTileShared(tile, element));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return launch;
}

GeneratedLaunch clearing(int64_t words) {
  constexpr int64_t threads = 256;
  GeneratedLaunch launch;
  launch.code = filled(clearText, {{"threads", std::to_string(threads)}, {"count", std::to_string(words)}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(words, threads));
  launch.threads = threads;
  launch.arguments = {{Argument::From::Workspace, 0, 0}};
  return launch;
}

GeneratedWork inOrder(const RowFormula& formula, const ColumnTile& tile, int64_t outer, int64_t classes,
                      int64_t inner) {
  const int64_t slabs = ceilDiv(outer * inner, tile.neighbours()), parts = ceilDiv(classes, tile.stretch());
  // Results come when all blocks that were there with the slab's last sums are done, and have merged them.
  const int64_t resident = multiprocessors * 1024 / tile.threads();
  const int64_t behind = std::clamp<int64_t>(ceilDiv(resident * 5 / 4, 2 * parts + 1), 1, slabs);
  const int64_t words = slabs * (parts + 1), totals = ceilDiv(words * 4, 256) * 256;
  const auto number = [](int64_t n) { return fmt::format("{}u", n); };
  GeneratedLaunch launch = tileLaunch(tile, formula.element);
  launch.code = head(formula, tile, outer, classes, inner) + constant("u32", "slabs", number(slabs)) +
                constant("u32", "parts", number(parts)) + constant("u32", "behind", number(behind)) +
                constant("together", together) + std::string(orderedText);
  launch.grid[0] = static_cast<uint32_t>((slabs + behind) * (2 * parts + 1));
  launch.arguments.push_back({Argument::From::Workspace, 0, 0});
  launch.arguments.push_back({Argument::From::Workspace, 0, totals});
  const int64_t totalsBytes = formula.element == ElementType::F64 ? 16 : 8;
  return {{clearing(words), std::move(launch)}, totals + words * tile.neighbours() * totalsBytes};
}

} // namespace

GeneratedWork columnsSoftmax(const RowFormula& formula, int64_t outer, int64_t classes, int64_t inner) {
  const int64_t width = commonPowerOf2(packBytes / byteWidth(formula.element), {inner});
  const int64_t packs = outer * inner / width;
  const auto tile = wholeColumns(formula.element, classes, packs, width);
  if (!tile) {
    return inOrder(formula, partOfColumns(formula.element, classes, packs, width), outer, classes, inner);
  }
  GeneratedLaunch launch = tileLaunch(*tile, formula.element);
  launch.code = head(formula, *tile, outer, classes, inner) + std::string(wholeText);
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(packs, tile->columns));
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
