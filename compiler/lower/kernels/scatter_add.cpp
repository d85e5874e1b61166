// scatterAdd without atomics: each thread owns a few neighbouring elements of a slice of the result and adds
// what the indices send there, in their order, in f64 (integers: u64, which wraps). A block owns a few
// slices. It reads the list of indices a tile at a time, one index a thread, keeps those that name its
// slices, in order (a vote and a count), and adds their updates, several loads in flight.
//
// Walking the list costs (blocks along the axis) x (indices / threads) steps, next to the elements that are
// read and written anyway. So that a long list is not walked by every block, it is dealt out first: the axis
// is cut into some thousand ranges, and two launches count and list the indices of each range, in order.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// What all launches share: the place that an index names, or one beyond the axis; and the rank of each thread
// that says yes among those of its block, with the number of them.
constexpr std::string_view scatterText = R"(
constexpr int warps = threads / 32;
DFC_INLINE Index placeNamed(const Given* indices, Index at) {
  const i64 index = indices[at];
  const u64 place = u64(index < 0 ? index + $whole$ : index)$shift$;
  return place < u64(length) ? Index(place) : Index(length);
}
struct Ranks { int rank, all; };
DFC_INLINE Ranks ranked(bool yes, int (&counts)[warps]) {
  const u32 votes = __ballot_sync(0xffffffffu, yes), lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  if (lane == 0) counts[warp] = __popc(votes);
  __syncthreads();
  Ranks ranks{__popc(votes & ((1u << lane) - 1u)), 0};
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    ranks.rank += w < warp ? counts[w] : 0;
    ranks.all += counts[w];
  }
  return ranks;
}
)";

constexpr std::string_view countText = R"(
struct Shared { int ofWarps[warps]; };
DFC_INLINE void run(const Given* indices, Index* counts, const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  const Index first = Index(block.x) * range;
  Index own = 0;
#pragma unroll 4
  for (Index at = threadIdx.x; at < count; at += threads) {
    const Index place = placeNamed(indices, at);
    own += place - first < range && place < length ? 1 : 0;
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) own += __shfl_xor_sync(0xffffffffu, own, lane);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = int(own);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < warps; ++warp) own += Index(ofWarps[warp]);
    counts[block.x] = own;
  }
}
)";

// starts[r]: where range r begins in the lists of places and of indices' numbers.
constexpr std::string_view listText = R"(
struct Shared {
  Index sums[warps];
  int ofWarps[2][warps];
};
DFC_INLINE void run(const Given* indices, const Index* counts, Index* starts, Index* places, Index* numbers,
                    const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  auto& sums = shared.sums;
  const Index first = Index(block.x) * range;
  Index next = 0;
  for (Index r = threadIdx.x; r < block.x; r += threads) next += counts[r];
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) next += __shfl_xor_sync(0xffffffffu, next, lane);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = next;
  __syncthreads();
  next = 0;
  for (int warp = 0; warp < warps; ++warp) next += sums[warp];
  if (threadIdx.x == 0) {
    starts[block.x] = next;
    if (block.x + 1 == ranges) starts[ranges] = next + counts[block.x];
  }
  int turn = 0;
  for (Index tile = 0; tile < count; tile += threads, turn ^= 1) {
    const Index at = tile + threadIdx.x;
    const Index place = at < count ? placeNamed(indices, at) : Index(length);
    const bool mine = place - first < range && place < length;
    const Ranks ranks = ranked(mine, ofWarps[turn]);
    if (mine) {
      places[next + ranks.rank] = place;
      numbers[next + ranks.rank] = at;
    }
    next += ranks.all;
  }
}
)";

constexpr std::string_view addText = R"(
struct Shared {
  Index hitSlice[threads], hitNumber[threads];
  int ofWarps[2][warps];
};
DFC_INLINE void run(const Element* from, $parameters$const Element* updates, Element* to, const Block& block,
                    Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  auto& hitSlice = shared.hitSlice;
  auto& hitNumber = shared.hitNumber;
  const Index group = block.x / along;
  const Index column = (block.x % along * columns + threadIdx.x % columns) * width;
  const Index slice = threadIdx.x / columns; // of the block's
  const Index outer = group / groups, first = group % groups * slices;
  const bool present = first + slice < length && column < inner;
  const Index own = (outer * length + first + slice) * inner + column;
  Sum sum[width];
  bool loaded = false; // by all threads or none; in place, slices without updates are neither read nor written
  const auto load = [&] {
    loaded = true;
    if (!present) return;
    const Pack<Element, width> pack = loadPack<width>(from + own);
#pragma unroll
    for (int k = 0; k < width; ++k) sum[k] = Sum(valueOf(pack.at[k]));
  };
  if (from != to) load();
  const Index begin = $begin$, end = $end$;
  int turn = 0;
  for (Index tile = begin; tile < end; tile += threads, turn ^= 1) {
    const Index at = tile + threadIdx.x;
    const Index place = at < end ? $place$ : Index(length);
    const bool mine = place - first < slices && place < length;
    const Ranks ranks = ranked(mine, ofWarps[turn]);
    if (ranks.all == 0) continue;
    if (!loaded) load();
    if (mine) {
      hitSlice[ranks.rank] = place - first;
      hitNumber[ranks.rank] = $number$;
    }
    __syncthreads();
    for (int hit = 0; hit < ranks.all; hit += unroll) {
      Pack<Element, width> update[unroll];
      bool adds[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        adds[u] = present && hit + u < ranks.all && hitSlice[hit + u] == slice;
        if (adds[u]) update[u] = loadPack<width>(updates + ((outer * count + hitNumber[hit + u]) * inner + column));
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
#pragma unroll
        for (int k = 0; k < width; ++k) {
          if (adds[u]) sum[k] += Sum(valueOf(update[u].at[k]));
        }
      }
    }
  }
  if (present && loaded) {
    Pack<Element, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = stored<Element>(Value(sum[k]));
    storePack(to + own, pack);
  }
}
)";

constexpr int64_t scatterThreads = 256, scatterWarps = scatterThreads / 32;
constexpr int64_t mostWalked = 4096; ///< indices that every block may read
constexpr int64_t mostRanges = 1024;

class ScatterWriter {
 public:
  ScatterWriter(const ops::ScatterAdd& op, OperandTypes operands)
      : type_(operands[0]), indices_(operands[1]), part_(op.part), count_(operands[1].shape.elements()),
        index_(std::max(operands[0].shape.elements(), operands[2].shape.elements()) + scatterThreads) {
    const size_t along = *normalAxis(op.axis, type_.shape.rank());
    for (size_t d = 0; d < type_.shape.rank(); ++d) {
      (d < along ? outer_ : d == along ? length_ : inner_) *= type_.shape[d];
    }
    width_ = commonPowerOf2(packBytes / byteWidth(type_.element), {inner_});
    columns_ = std::min(scatterThreads, powerOf2From(inner_ / width_));
    slices_ = scatterThreads / columns_;
    groups_ = ceilDiv(length_, slices_);
    range_ = ceilDiv(ceilDiv(length_, mostRanges), slices_) * slices_;
    ranges_ = ceilDiv(length_, range_);
    dealt_ = count_ > mostWalked && ranges_ > 1;
  }

  GeneratedKernels work() const {
    GeneratedKernels work;
    if (dealt_) {
      work.launches.push_back(counting());
      work.launches.push_back(listing());
      work.workspaceBytes = numbersAt() + count_ * indexBytes();
    }
    work.launches.push_back(adding());
    return work;
  }

 private:
  int64_t along() const { return ceilDiv(inner_ / width_, columns_); } // blocks along a slice
  int64_t indexBytes() const { return index_.type() == "u64" ? 8 : 4; }
  static int64_t aligned(int64_t bytes) { return ceilDiv(bytes, 256) * 256; }
  int64_t startsAt() const { return aligned(ranges_ * indexBytes()); } // the counts come first
  int64_t placesAt() const { return startsAt() + aligned((ranges_ + 1) * indexBytes()); }
  int64_t numbersAt() const { return placesAt() + aligned(count_ * indexBytes()); }

  std::string head() const {
    return fmt::format("using Index = {};\nusing Given = {};\n", index_.type(),
                       storageName(indices_.element)) +
           constant("threads", scatterThreads) + constant("Index", "length", index_.of(length_)) +
           constant("Index", "count", index_.of(count_)) +
           filled(scatterText, {{"whole", part_.isPart() ? fmt::format("{}ll", part_.whole) : "i64(length)"},
                                {"shift", shiftText(part_)}});
  }
  std::string ranges() const {
    return constant("Index", "range", index_.of(range_)) + constant("Index", "ranges", index_.of(ranges_));
  }

  GeneratedLaunch over(std::string code, int64_t blocks, int64_t sharedBytes) const {
    GeneratedLaunch launch;
    launch.code = std::move(code);
    launch.grid[0] = static_cast<uint32_t>(blocks);
    launch.threads = scatterThreads;
    launch.barriers = true;
    launch.sharedBytes = static_cast<uint32_t>(sharedBytes);
    return launch;
  }

  GeneratedLaunch counting() const {
    GeneratedLaunch launch =
        over(head() + constant("Index", "range", index_.of(range_)) + std::string(countText), ranges_,
             scatterWarps * 4);
    launch.arguments = {{Argument::From::Operand, 1, 0}, {Argument::From::Workspace, 0, 0}};
    return launch;
  }

  GeneratedLaunch listing() const {
    GeneratedLaunch launch =
        over(head() + ranges() + std::string(listText), ranges_, scatterWarps * (indexBytes() + 8));
    launch.arguments = {{Argument::From::Operand, 1, 0},
                        {Argument::From::Workspace, 0, 0},
                        {Argument::From::Workspace, 0, startsAt()},
                        {Argument::From::Workspace, 0, placesAt()},
                        {Argument::From::Workspace, 0, numbersAt()}};
    return launch;
  }

  std::string addingCode() const {
    const bool isReal = isFloat(type_.element);
    return fmt::format("using Element = {};\nusing Value = {};\nusing Sum = {};\n",
                       storageName(type_.element), valueName(type_.element), isReal ? "f64" : "u64") +
           constant("width", width_) + constant("unroll", width_ > 4 ? 4 : 8) +
           constant("Index", "inner", index_.of(inner_)) + constant("Index", "columns", index_.of(columns_)) +
           constant("Index", "slices", index_.of(slices_)) + constant("Index", "groups", index_.of(groups_)) +
           constant("Index", "along", index_.of(along())) +
           filled(addText,
                  {{"parameters", dealt_ ? "const Index* starts, const Index* places, const Index* numbers, "
                                         : "const Given* indices, "},
                   {"begin", dealt_ ? fmt::format("starts[first / {}]", index_.of(range_)) : "0"},
                   {"end", dealt_ ? fmt::format("starts[first / {} + 1]", index_.of(range_)) : "count"},
                   {"place", dealt_ ? "places[at]" : "placeNamed(indices, at)"},
                   {"number", dealt_ ? "numbers[at]" : "at"}});
  }

  GeneratedLaunch adding() const {
    GeneratedLaunch launch = over(head() + addingCode(), outer_ * groups_ * along(),
                                  scatterThreads * 2 * indexBytes() + scatterWarps * 8);
    launch.arguments.push_back({Argument::From::Operand, 0, 0});
    if (dealt_) {
      launch.arguments.append({{Argument::From::Workspace, 0, startsAt()},
                               {Argument::From::Workspace, 0, placesAt()},
                               {Argument::From::Workspace, 0, numbersAt()}});
    } else {
      launch.arguments.push_back({Argument::From::Operand, 1, 0});
    }
    launch.arguments.append({{Argument::From::Operand, 2, 0}, {Argument::From::Result, 0, 0}});
    return launch;
  }

  const TensorType &type_, &indices_;
  AxisPart part_;
  int64_t count_;
  IndexText index_;
  int64_t outer_ = 1, length_ = 1, inner_ = 1;
  int64_t width_ = 1, columns_ = 1; // elements of an access; accesses of a block's row
  int64_t slices_ = 1, groups_ = 1; // of a block; blocks along the axis
  int64_t range_ = 1, ranges_ = 1;  // slices; of the axis
  bool dealt_ = false;
};

} // namespace

GeneratedKernels scatterAddKernel(const ops::ScatterAdd& op, OperandTypes operands, const GpuShape& gpu) {
  const TensorType& type = operands[0];
  if (operands[1].shape.elements() == 0) { // nothing is added
    return streamedChain(movedChain(type, type, Access::broadcast(type.shape, type.shape)), gpu);
  }
  return ScatterWriter(op, operands).work();
}

} // namespace dfc::cuda
