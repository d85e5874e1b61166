// Softmax and logSoftmax along an axis that is not the last, the operand read from memory once and the result
// written once. A row that fits into a block's registers stays there (columns_tile.cpp).
//
// Longer rows are read a second time, but out of the L2 cache: the tensor
// is walked in slabs of neighbouring rows, a few MiB each, and a slab's results follow some slabs behind its
// sums. One launch does all of it, in blocks of three kinds: a part of a slab is summed up; a slab's parts
// are merged; a part's results are written. Blocks wait for blocks, but only for earlier ones (as in Merrill
// and Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back, 2016). In which order blocks start
// CUDA does not say, so each takes the next number when it starts: whom it waits for has started, and never
// waits for it in turn. They wait for the sums themselves. Sums and the next number are in a workspace that a
// launch before clears. Which block does which part changes no sum, so every run gives the same bits.
#include "compiler/lower/kernels/rows/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view wholeText = R"(
struct Shared : Lanes {};
DFC_INLINE void run(const Element* from, Element* to, const Block& block, Shared& shared) {
  Tile tile;
  place(tile, block.x, 0);
  load<false>(tile, from);
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
  writeResults<false>(tile, known, to);
}
)";

// Totals are there for other blocks when their sum is not zero, which they are cleared to. In f32 they are
// one word, so that the sum comes together with the maximum; in f64 it comes after it.
constexpr std::string_view publishText = R"(
DFC_INLINE void publish(Totals* to, const Totals& totals) {
#ifndef DFC_ON_HOST
  if constexpr (sizeof(Real) == 4) {
    const u64 word = u64(__float_as_uint(f32(totals.sum))) << 32 | __float_as_uint(f32(totals.most));
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
  } else {
    asm volatile("st.relaxed.gpu.global.f64 [%0], %1;\n st.release.gpu.global.f64 [%0 + 8], %2;" ::"l"(to), "d"(f64(totals.most)), "d"(f64(totals.sum)) : "memory");
  }
#else
  *to = totals;
#endif
}
DFC_INLINE Totals seen(const Totals* from) {
#ifndef DFC_ON_HOST
  if constexpr (sizeof(Real) == 4) {
    u64 word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    return {Real(__uint_as_float(u32(word))), Real(__uint_as_float(u32(word >> 32)))};
  } else {
    f64 most, sum;
    asm volatile("ld.acquire.gpu.global.f64 %1, [%2 + 8];\n ld.relaxed.gpu.global.f64 %0, [%2];" : "=d"(most), "=d"(sum) : "l"(from) : "memory");
    return {Real(most), Real(sum)};
  }
#else
  return *from;
#endif
}
// All of them are asked for before any is waited for.
template <int count> DFC_INLINE void await(Totals (&list)[count], const Totals* from, Index step, u32 present) {
#pragma unroll
  for (int n = 0; n < count; ++n) list[n] = n < present ? seen(from + n * step) : start();
#pragma unroll
  for (int n = 0; n < count; ++n) {
    while (n < present && list[n].sum == Real(0)) list[n] = seen(from + n * step);
  }
}
)";

constexpr std::string_view orderedText = R"(
constexpr u32 perPhase = 2 * parts + 1;
struct Shared : Lanes { u32 number; };
// How many blocks have started before this one.
DFC_INLINE u32 numberFrom(u32* next, Shared& shared) {
  if (threadIdx.x == 0) {
#ifndef DFC_ON_HOST
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;" : "=r"(shared.number) : "l"(next) : "memory");
#else
    shared.number = (*next)++;
#endif
  }
  __syncthreads();
  return shared.number;
}
DFC_INLINE void sumUpPart(const Element* from, Totals* to, Index slab, Index part, Shared& shared) {
  Tile tile;
  place(tile, slab, part * extent);
  load<false>(tile, from); // to be read again
  sumUp(tile, shared);
  mergeGroups(shared);
  for (int column = threadIdx.x; column < neighbours; column += columns * lanes) {
    publish(to + column, mergedLanes<groups, 1>(shared, 0, column));
  }
}
DFC_INLINE void mergeParts(const Totals* from, Totals* to, Shared& shared) {
  for (int i = threadIdx.x; i < groups * neighbours; i += columns * lanes) {
    const int group = i / neighbours, column = i % neighbours;
    Totals whole = start();
#pragma unroll 1
    for (u32 part = group; part < parts; part += groups * together) {
      Totals list[together];
      await(list, from + Index(part) * neighbours + column, groups * neighbours, (parts - part + groups - 1) / groups);
      merge(whole, merged(list));
    }
    shared.ofLanes[group][column] = whole;
  }
  __syncthreads();
  for (int column = threadIdx.x; column < neighbours; column += columns * lanes) {
    publish(to + column, settled(mergedLanes<groups, 1>(shared, 0, column)));
  }
}
DFC_INLINE void writePart(const Element* from, const Totals* totals, Element* to, Index slab, Index part) {
  Tile tile;
  place(tile, slab, part * extent);
  load<true>(tile, from);
  if (tile.end == 0) return;
  Totals list[width];
  await(list, totals + threadIdx.x % columns, columns, width);
  Row known[width];
#pragma unroll
  for (int k = 0; k < width; ++k) known[k] = rowOf(list[k], tile.row + k);
  writeResults<true>(tile, known, to);
}
// A phase sums up one slab, merges it, and writes another's results: sums and results alternate, so that
// memory is read and written at once.
DFC_INLINE void run(const Element* from, Element* to, Totals* totals, u32* next, const Block&, Shared& shared) {
  const u32 number = numberFrom(next, shared), phase = number / perPhase, at = number % perPhase, part = at / 2;
  Totals* const ofPhase = totals + Index(phase) * parts * neighbours;
  Totals* const ofSlabs = totals + Index(slabs) * parts * neighbours;
  if (at == 2 * parts) {
    if (phase < slabs) mergeParts(ofPhase, ofSlabs + Index(phase) * neighbours, shared);
  } else if (at % 2 == 0) {
    if (phase < slabs) sumUpPart(from, ofPhase + Index(part) * neighbours, phase, part, shared);
  } else if (phase >= behind) {
    const u32 slab = phase - behind;
    writePart(from, ofSlabs + Index(slab) * neighbours, to, slab, part);
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
    launch.minBlocksPerMultiprocessor = static_cast<uint32_t>(std::min<int64_t>(16, 1024 / tile.threads()));
  }
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(columnTileShared(tile, element));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return launch;
}

GeneratedKernels inOrder(const RowFormula& formula, const ColumnTile& tile, int64_t outer, int64_t classes,
                         int64_t inner, const GpuShape& gpu) {
  const int64_t slabs = ceilDiv(outer * inner, tile.neighbours()), parts = ceilDiv(classes, tile.extent());
  // Results come when all blocks that were there with the slab's last sums are done, and have merged them.
  const int64_t resident = gpu.multiprocessors * 1024 / tile.threads();
  const int64_t behind = std::clamp<int64_t>(ceilDiv(resident * 5 / 4, 2 * parts + 1), 1, slabs);
  const auto number = [](int64_t n) { return fmt::format("{}u", n); };
  GeneratedLaunch launch = tileLaunch(tile, formula.element);
  launch.code = head(formula, tile, outer, classes, inner) + constant("u32", "slabs", number(slabs)) +
                constant("u32", "parts", number(parts)) + constant("u32", "behind", number(behind)) +
                constant("together", together) + std::string(publishText) + std::string(orderedText);
  launch.grid[0] = static_cast<uint32_t>((slabs + behind) * (2 * parts + 1));
  launch.sharedBytes += formula.element == ElementType::F64 ? 8 : 4; // the number
  const int64_t totals = slabs * (parts + 1) * tile.neighbours();
  const int64_t next =
      ceilDiv(totals * totalsBytes(formula.element), 256) * 256; // away from what is waited for
  launch.arguments.push_back({Argument::From::Workspace, 0, 0});
  launch.arguments.push_back({Argument::From::Workspace, 0, next});
  const int64_t bytes = next + packBytes;
  return {{clearedWorkspace(bytes), std::move(launch)}, bytes};
}

} // namespace

GeneratedKernels columnsSoftmax(const RowFormula& formula, int64_t outer, int64_t classes, int64_t inner,
                                const GpuShape& gpu) {
  const int64_t width = commonPowerOf2(packBytes / byteWidth(formula.element), {inner});
  const int64_t packs = outer * inner / width;
  const auto tile = wholeColumns(formula.element, classes, packs, width, gpu);
  if (!tile) {
    return inOrder(formula, partOfColumns(formula.element, classes, packs, width), outer, classes, inner,
                   gpu);
  }
  GeneratedLaunch launch = tileLaunch(*tile, formula.element);
  launch.code = head(formula, *tile, outer, classes, inner) + std::string(wholeText);
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(packs, tile->columns));
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
