// A block has one multiprocessor to itself and keeps pieces in its shared memory: its part of one slab, of
// the team's next one, and so on, in a ring of slots. Its warps divide the labour. Some fetch piece after
// piece, as soon as a slot is free. Some find the piece's maxima and sums of powers and publish them. One
// warp merges what all parts published for some of a slab's rows, each block for others, and publishes that.
// Some take a piece out of its slot, wait for its slab's totals, and write results. A piece stays for some 14
// us, of which 3 are its fetching and the rest is waiting for the slowest block, seven slots and the
// writers' registers cover that. (16384 classes of 8192 rows on an H200: 295 us, of which 258 are what a copy
// takes; slabs take 371.)
//
// Blocks wait for blocks that may have started later: all must be there at once (a cooperative launch).
// Totals travel in words of 64 bits, through the L2 cache, where nothing may push them out: a word that has
// to be fetched from memory costs a slab 2 to 3 us. So what is read once is marked as the first to go, as
// what is written is, and words as the last. They lie in a ring as well, of `laps` slabs; the sign of the
// sum, which is none's own, says whether a word is this lap's or the last's. Who merges what is the same in
// every run, and so are all bits.
#include "runtime/cuda/kernels/rows/columns_ring.h"

#include "ir/base/assert.h"
#include "ir/graph/rules/axis_view.h"
#include "runtime/cuda/kernels/rows/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t width = 4, columns = 16, neighbours = columns * width; // of f32: 256 bytes
constexpr int64_t copies = 8;
constexpr int64_t sumThreads = 128, writeThreads = 256, fetchThreads = 64, mergeThreads = 32;
constexpr int64_t allThreads = sumThreads + writeThreads + fetchThreads + mergeThreads;
constexpr int64_t mostLines = 128;

constexpr std::string_view machineText = R"(
#ifndef DFC_ON_HOST
// Lets through who waits for its phase 0, 1, 0, ...: each ends with so many arrivals.
struct Gate { u64 state; };
DFC_INLINE u32 sharedAddress(const void* at) { return u32(__cvta_generic_to_shared(at)); }
DFC_INLINE void prepare(Gate& gate, u32 arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(sharedAddress(&gate)), "r"(arrivals) : "memory");
}
DFC_INLINE void arrive(Gate& gate) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" :: "r"(sharedAddress(&gate)) : "memory");
}
// When the thread's copies so far are there.
DFC_INLINE void arriveWithCopies(Gate& gate) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" :: "r"(sharedAddress(&gate)) : "memory");
}
DFC_INLINE void pass(Gate& gate, u32 phase) {
  asm volatile("{ .reg .pred passed; again: mbarrier.try_wait.parity.shared.b64 passed, [%0], %1; @!passed bra again; }"
               :: "r"(sharedAddress(&gate)), "r"(phase) : "memory");
}
// A barrier of so many threads of the block.
template <int number, int threads> DFC_INLINE void meet() { asm volatile("bar.sync %0, %1;" :: "n"(number), "n"(threads) : "memory"); }
// How long the L2 cache should keep something.
struct Keep { u64 policy; };
DFC_INLINE Keep keepShortest() { Keep keep; asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(keep.policy)); return keep; }
DFC_INLINE Keep keepLongest() { Keep keep; asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(keep.policy)); return keep; }
// 16 bytes into shared memory, on their way until a gate lets through.
DFC_INLINE void copyPack(void* to, const void* from, Keep keep) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;"
               :: "r"(sharedAddress(to)), "l"(from), "l"(keep.policy) : "memory");
}
DFC_INLINE void storeWord(u64* to, u64 word, Keep keep) {
  asm volatile("st.relaxed.gpu.global.L2::cache_hint.u64 [%0], %1, %2;" :: "l"(to), "l"(word), "l"(keep.policy) : "memory");
}
DFC_INLINE u64 loadWord(const u64* from, Keep keep) {
  u64 word;
  asm volatile("ld.relaxed.gpu.global.L2::cache_hint.u64 %0, [%1], %2;" : "=l"(word) : "l"(from), "l"(keep.policy) : "memory");
  return word;
}
// To be called where a thread asks over and over.
template <u32 nanoseconds> DFC_INLINE void idle() { if (nanoseconds > 0) __nanosleep(nanoseconds); }
DFC_INLINE u32 bitsOf(f32 a) { return __float_as_uint(a); }
#endif
)";

constexpr std::string_view ringText = R"(
constexpr int neighbours = columns * width, sumWarps = sumThreads / 32;
constexpr int sumLanes = sumThreads / columns, writeLanes = writeThreads / columns;
constexpr int perSummer = (lines + sumLanes - 1) / sumLanes, perWriter = (lines + writeLanes - 1) / writeLanes;
struct Shared {
  alignas(16) Pack<Element, width> held[slots][lines * columns];
  Totals ofWarps[2][sumWarps][neighbours], ofSlab[2][neighbours];
  Gate loaded[slots], taken[slots];
};
// A block's place in its team, and what its team has to do: slabs group, group + groups, ...
struct Team {
  u32 group, part, turns;
  DFC_INLINE Index slab(u32 turn) const { return group + turn * groups; }
};
// Where totals of a slab's parts lie, and copies of what they come to, far enough apart for many to ask.
struct Words {
  u64 *ofParts, *ofSlab;
  DFC_INLINE Words(u64* all, u32 group, u32 turn)
      : ofParts(all + (group * laps + turn % laps) * (parts * neighbours)),
        ofSlab(all + groups * laps * (parts * neighbours) + (group * laps + turn % laps) * (copies * neighbours)) {}
};
DFC_INLINE u32 lapOf(u32 turn) { return turn / laps % 2 == 0 ? 1 : 0; } // cleared words are not the first lap's
DFC_INLINE void publish(u64* to, const Totals& totals, u32 lap, Keep keep) {
  storeWord(to, u64((bitsOf(totals.sum) & 0x7fffffffu) | lap << 31) << 32 | bitsOf(totals.most), keep);
}
DFC_INLINE bool isOf(u32 lap, u64 word) { return word >> 63 == lap; }
DFC_INLINE Totals totalsOf(u64 word) { return {__uint_as_float(u32(word)), __uint_as_float(u32(word >> 32) & 0x7fffffffu)}; }

DFC_INLINE int classesOf(const Team& team) { // that the block holds
  const Index first = Index(team.part) * lines;
  return int(first + lines < classes ? Index(lines) : classes - first);
}

DFC_INLINE void fetchPieces(const Element* from, const Team& team, u32 thread, Shared& shared) {
  const Keep keep = keepShortest();
  const Index column = thread % columns, first = Index(team.part) * lines;
  const int lane = thread / columns, end = classesOf(team);
  constexpr int lanes = fetchThreads / columns;
#pragma unroll 1
  for (u32 turn = 0; turn < team.turns; ++turn) {
    const u32 slot = turn % slots;
    if (turn >= slots) pass(shared.taken[slot], (turn / slots + 1) % 2);
    const Index row = (team.slab(turn) * columns + column) * width;
    const Element* const at = from + row / inner * (classes * inner) + row % inner + first * inner;
    if (row < rows) {
#pragma unroll
      for (int n = 0; n < (lines + lanes - 1) / lanes; ++n) {
        const int line = lane + n * lanes;
        if (line < end) copyPack(&shared.held[slot][line * columns + column], at + Index(line) * inner, keep);
      }
    }
    arriveWithCopies(shared.loaded[slot]);
  }
}

// Absent elements are -infinity and count nothing.
DFC_INLINE Totals summedUp(const Real (&x)[perSummer]) {
  Real most = mostOf(start().most, x);
#pragma unroll
  for (int lane = columns; lane < 32; lane *= 2) most = larger2(most, __shfl_xor_sync(0xffffffffu, most, lane));
  const Real from = most == start().most ? Real(0) : most;
  Real sum = 0;
#pragma unroll
  for (int n = 0; n < perSummer; ++n) sum += expOf(x[n] - from);
#pragma unroll
  for (int lane = columns; lane < 32; lane *= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  return {most, sum};
}
// Known beforehand but for the last line of each lane.
DFC_INLINE bool isLine(int lane, int n, int lanes) { return (n + 1) * lanes <= lines || lane + n * lanes < lines; }
// Lines lane, lane + lanes, ... out of the piece's slot, which is free when all that take from it have theirs.
template <int lanes, int count>
DFC_INLINE void takePiece(Pack<Element, width> (&packs)[count], u32 turn, int lane, int column, Shared& shared) {
  const u32 slot = turn % slots;
  pass(shared.loaded[slot], turn / slots % 2);
#pragma unroll
  for (int n = 0; n < count; ++n) {
    if (isLine(lane, n, lanes)) packs[n] = loadPack<width>(shared.held[slot][(lane + n * lanes) * columns + column].at);
  }
  arrive(shared.taken[slot]);
}
DFC_INLINE void sumUpPieces(u64* words, const Team& team, u32 thread, Shared& shared) {
  const Keep keep = keepLongest();
  const int column = thread % columns, lane = thread / columns;
#pragma unroll 1
  for (u32 turn = 0; turn < team.turns; ++turn) {
    Pack<Element, width> packs[perSummer];
    takePiece<sumLanes>(packs, turn, lane, column, shared);
    Totals (&ofWarps)[sumWarps][neighbours] = shared.ofWarps[turn % 2];
#pragma unroll
    for (int k = 0; k < width; ++k) {
      Real x[perSummer];
#pragma unroll
      for (int n = 0; n < perSummer; ++n) x[n] = isLine(lane, n, sumLanes) ? valueOf(packs[n].at[k]) : start().most;
      const Totals totals = summedUp(x);
      if (thread % 32 < columns) ofWarps[thread / 32][column * width + k] = totals;
    }
    meet<1, sumThreads>();
    if (thread < neighbours) {
      Totals list[sumWarps];
#pragma unroll
      for (int warp = 0; warp < sumWarps; ++warp) list[warp] = ofWarps[warp][thread];
      publish(Words(words, team.group, turn).ofParts + (team.part * neighbours + thread), merged(list), lapOf(turn), keep);
    }
  }
}

// Four rows of a slab at a time, eight parts at a time, all words asked for at once and until they are there.
DFC_INLINE void mergeParts(u64* words, const Team& team, u32 lane) {
  const Keep keep = keepLongest();
  constexpr int together = 32 / width, share = (parts + together - 1) / together;
#pragma unroll 1
  for (u32 turn = 0; turn < team.turns; ++turn) {
    const Words at(words, team.group, turn);
    const u32 lap = lapOf(turn);
    // The teams' blocks take turns: this one's packs of the slab.
    for (u32 pack = (team.part + parts - turn * columns % parts) % parts; pack < columns; pack += parts) {
      const u64* const from = at.ofParts + (lane / width * neighbours + pack * width + lane % width);
      // Not before the block's own part is summed up (see lapsOf); nor are many others then.
      const u64* const own = at.ofParts + (team.part * neighbours + pack * width + lane % width);
      while (!isOf(lap, loadWord(own, keep))) idle<200>();
      u64 word[share];
#pragma unroll
      for (int n = 0; n < share; ++n) word[n] = u64(lap ^ 1) << 63;
      bool more;
      do {
        more = false;
#pragma unroll
        for (int n = 0; n < share; ++n) {
          if (lane / width + n * together < parts && !isOf(lap, word[n])) word[n] = loadWord(from + n * (together * neighbours), keep);
        }
#pragma unroll
        for (int n = 0; n < share; ++n) more |= lane / width + n * together < parts && !isOf(lap, word[n]);
        if (more) idle<0>();
      } while (more);
      Totals list[share];
#pragma unroll
      for (int n = 0; n < share; ++n) list[n] = lane / width + n * together < parts ? totalsOf(word[n]) : start();
      Totals whole = merged(list);
      Real most = whole.most;
#pragma unroll
      for (int apart = width; apart < 32; apart *= 2) most = larger2(most, __shfl_xor_sync(0xffffffffu, most, apart));
      whole = {most, rescaled(whole, most)};
#pragma unroll
      for (int apart = width; apart < 32; apart *= 2) whole.sum += __shfl_xor_sync(0xffffffffu, whole.sum, apart);
      for (u32 copy = lane / width; copy < copies; copy += together) {
        publish(at.ofSlab + (copy * neighbours + pack * width + lane % width), whole, lap, keep);
      }
    }
  }
}

DFC_INLINE void writePieces(Element* to, u64* words, const Team& team, u32 thread, Shared& shared) {
  const Keep keep = keepLongest();
  const int column = thread % columns, lane = thread / columns, end = classesOf(team);
  const Index first = Index(team.part) * lines;
#pragma unroll 1
  for (u32 turn = 0; turn < team.turns; ++turn) {
    Pack<Element, width> packs[perWriter];
    takePiece<writeLanes>(packs, turn, lane, column, shared);
    Totals (&ofSlab)[neighbours] = shared.ofSlab[turn % 2];
    if (thread < neighbours) {
      const u64* const at = Words(words, team.group, turn).ofSlab + (team.part % copies * neighbours + thread);
      u64 word = loadWord(at, keep);
      while (!isOf(lapOf(turn), word)) {
        idle<0>();
        word = loadWord(at, keep);
      }
      ofSlab[thread] = settled(totalsOf(word));
    }
    meet<2, writeThreads>();
    const Index row = (team.slab(turn) * columns + column) * width;
    if (row >= rows) continue;
    Row known[width];
#pragma unroll
    for (int k = 0; k < width; ++k) known[k] = rowOf(ofSlab[column * width + k], row + k);
    Element* const at = to + row / inner * (classes * inner) + row % inner + first * inner;
#pragma unroll
    for (int n = 0; n < perWriter; ++n) {
      const int line = lane + n * writeLanes;
      if (line >= end) continue;
      PackBits<Element, width> bits;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const Real x = valueOf(packs[n].at[k]);
        bits.pack.at[k] = stored<Element>(result(known[k], x, expOf(x - known[k].most), first + line));
      }
      __stcs(reinterpret_cast<uint4*>(at + Index(line) * inner), bits.raw);
    }
  }
}

DFC_INLINE void run(const Element* from, Element* to, u64* words, const Block& block, Shared& shared) {
  const u32 group = block.x / parts;
  const Team team = {group, block.x % parts, (slabs - group + groups - 1) / groups};
  if (threadIdx.x == 0) {
    for (int slot = 0; slot < slots; ++slot) {
      prepare(shared.loaded[slot], fetchThreads);
      prepare(shared.taken[slot], sumThreads + writeThreads);
    }
  }
  if (const int end = classesOf(team); end < lines) { // classes that are not there never come in
    for (u32 i = threadIdx.x; i < slots * (lines - end) * columns; i += allThreads) {
      const u32 slot = i / ((lines - end) * columns), pack = end * columns + i % ((lines - end) * columns);
      shared.held[slot][pack] = splatPack<width>(start().most);
    }
  }
  __syncthreads();
  const u32 thread = threadIdx.x;
  if (thread < sumThreads) sumUpPieces(words, team, thread, shared);
  else if (thread < sumThreads + writeThreads) writePieces(to, words, team, thread - sumThreads, shared);
  else if (thread < sumThreads + writeThreads + fetchThreads) fetchPieces(from, team, thread - sumThreads - writeThreads, shared);
  else mergeParts(words, team, thread % 32);
}
)";

constexpr int64_t totalsShared = 2 * (sumThreads / 32 + 1) * neighbours * 8;

int64_t pieceBytes(int64_t lines) { return lines * columns * packBytes; }

int64_t mostSlots(int64_t lines) {
  constexpr int64_t gates = 512;
  return (ringBlockShared - totalsShared - gates) / pieceBytes(lines);
}

// Words of the lap before are overwritten when all have read them: a block publishes turn i when its writers
// have taken turn i - slots out of its slot, and read all totals before that; one lap is spare. And who
// merges a turn must not take words of the lap before the last for it. All have published some rows of the
// turn that it merged before, hence all rows of the turn before that; and its own block is at the turn, which
// it waits for, so that all totals up to slots + 1 turns before are there.
int64_t lapsOf(const ColumnRing& ring) {
  const int64_t betweenMerges = ceilDiv(ring.parts, columns);
  return std::max(ring.slots, betweenMerges) + 2;
}

int64_t wordsOf(const ColumnRing& ring) {
  return ring.groups * lapsOf(ring) * (ring.parts + copies) * neighbours;
}

uint32_t sharedBytesOf(const ColumnRing& ring) {
  const int64_t gates = 2 * ring.slots * 8;
  return static_cast<uint32_t>(ring.slots * pieceBytes(ring.lines) + totalsShared + gates);
}

/// Of an op that is softmax or logSoftmax.
struct Softened {
  int64_t axis;
  bool logarithm;
};

std::optional<Softened> softened(const OpAttributes& attributes) {
  if (const auto* softmax = attributes.getIf<ops::Softmax>()) {
    return Softened{softmax->axis, false};
  }
  const auto* logSoftmax = attributes.getIf<ops::LogSoftmax>();
  return logSoftmax == nullptr ? std::nullopt : std::optional(Softened{logSoftmax->axis, true});
}

std::optional<ColumnRing> ringFor(const AxisView& view, int64_t blocks) {
  // Below these it was not measured. (8192 rows on an H200, shares of the copy bandwidth, slabs in brackets:
  // 16384 classes 0.87 (0.70), 10000 0.82, 8192 0.84, 4096 0.81 (0.66).) Filling the ring takes turns.
  constexpr int64_t leastClasses = 4096, leastTurns = 24;
  const int64_t fewest = ceilDiv(view.length, mostLines);
  if (view.inner % width != 0 || view.length < leastClasses || fewest > blocks) {
    return std::nullopt;
  }
  const int64_t groups = blocks / fewest, lines = ceilDiv(view.length, blocks / groups);
  if (view.outer * view.inner / (neighbours * groups) < leastTurns) {
    return std::nullopt;
  }
  constexpr int64_t enoughSlots = 12; // where pieces are small
  return ColumnRing{ceilDiv(view.length, lines), lines, groups, std::min(mostSlots(lines), enoughSlots)};
}

} // namespace

GeneratedWork columnRingSoftmax(const RowFormula& formula, int64_t outer, int64_t classes, int64_t inner,
                                const ColumnRing& ring) {
  DFC_ASSERT(formula.element == ElementType::F32 && inner % width == 0 &&
                 formula.kind != RowFormula::Kind::CrossEntropyGradient,
             "a ring is for softmax of f32 in whole packs");
  DFC_ASSERT(ring.lines <= mostLines && ring.parts * ring.lines >= classes &&
                 (ring.parts - 1) * ring.lines < classes && ring.slots <= mostSlots(ring.lines),
             "a ring that does not hold its columns");
  const IndexText index(outer * inner * classes);
  GeneratedLaunch launch;
  launch.code = rowsHead(formula, outer * inner, classes, width) +
                constant("Index", "inner", index.of(inner)) +
                constant("Index", "rows", index.of(outer * inner));
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, int64_t>>{{"columns", columns},
                                                                   {"lines", ring.lines},
                                                                   {"allThreads", allThreads},
                                                                   {"sumThreads", sumThreads},
                                                                   {"writeThreads", writeThreads},
                                                                   {"fetchThreads", fetchThreads}}) {
    launch.code += constant(name, value);
  }
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, int64_t>>{
           {"slots", ring.slots},
           {"laps", lapsOf(ring)},
           {"copies", copies},
           {"parts", ring.parts},
           {"groups", ring.groups},
           {"slabs", ceilDiv(outer * inner, neighbours)}}) {
    launch.code += constant("u32", name, fmt::format("{}u", value));
  }
  launch.code += std::string(machineText) + std::string(ringText);
  launch.grid[0] = static_cast<uint32_t>(ring.blocks());
  launch.threads = static_cast<uint32_t>(allThreads);
  launch.sharedBytes = sharedBytesOf(ring);
  launch.blocksAtOnce = 1;
  launch.barriers = true;
  launch.allAtOnce = true;
  launch.arguments = {
      {Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}, {Argument::From::Workspace, 0, 0}};
  const int64_t bytes = wordsOf(ring) * 8;
  return {{clearedWorkspace(bytes), std::move(launch)}, bytes};
}

std::optional<GeneratedWork> generateColumnRing(const OpAttributes& attributes, OperandTypes operands,
                                                int64_t blocks) {
  const auto op = softened(attributes);
  if (!op || operands[0].element != ElementType::F32) {
    return std::nullopt;
  }
  const AxisView view(operands[0].shape, op->axis);
  const auto ring = ringFor(view, blocks);
  if (!ring) {
    return std::nullopt;
  }
  const RowFormula formula{op->logarithm ? RowFormula::Kind::LogSoftmax : RowFormula::Kind::Softmax,
                           operands[0].element, ""};
  return columnRingSoftmax(formula, view.outer, view.length, view.inner, *ring);
}

} // namespace dfc::cuda
