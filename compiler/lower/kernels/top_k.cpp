// topK, of rows seen as [outer, length, inner]. Elements are compared through keys, unsigned integers in the
// order of the op (all NaNs are one number, and so are both zeros), of equal ones the lower place first: no
// two are alike, so the result does not depend on who compares when.
//
// Short rows, and a k beyond what a block can keep: each element counts those before it, length comparisons.
// Else a block reads a row once; what is better than the k-th best so far waits in shared memory, and where
// room for a tile more is missing, a bitonic sort (Batcher 1968) of the best and of those that wait leaves
// the best. Few elements get so far: about k ln(length / k) in random order.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view floatKeyText = R"(
DFC_INLINE Key keyOf(Element element) {
  const Value value = valueOf(element);
  const Real x = value == Value(0) ? Real(0) : Real(value);
  union { Real real; Key bits; } both;
  both.real = x;
  const Key sign = Key(1) << (8 * sizeof(Key) - 1);
  const Key key = isNan(x) ? ~Key(0) : (both.bits & sign) != 0 ? ~both.bits : both.bits | sign;
  return $flip$key;
}
)";

constexpr std::string_view wholeKeyText = R"(
DFC_INLINE Key keyOf(Element element) {
  const Key key = Key(element) ^ (Element(-1) < Element(0) ? Key(1) << (8 * sizeof(Key) - 1) : Key(0));
  return $flip$key;
}
)";

constexpr std::string_view topKText = R"(
struct Entry { Key key; Place place; };
DFC_INLINE bool better(const Entry& a, const Entry& b) {
  return a.key > b.key || (a.key == b.key && a.place < b.place);
}
DFC_INLINE Index startOf(Index row, Index size) { return row / inner * (size * inner) + row % inner; }
DFC_INLINE void write(const Element* from, Element* values, i64* places, Index row, Index rank, Place place) {
  const Index to = startOf(row, kept) + rank * inner;
  values[to] = from[startOf(row, length) + Index(place) * inner];
  places[to] = i64(place);
}
)";

constexpr std::string_view rankText = R"(
struct Shared {};
DFC_INLINE void run(const Element* from, Element* values, i64* places, const Block& block, Shared&) {
  const Index number = Index(block.x) * threads + threadIdx.x;
  if (number >= rows * length) return;
  const Index row = number / length, start = startOf(row, length);
  const Entry own{keyOf(from[start + number % length * inner]), Place(number % length)};
  Index rank = 0;
#pragma unroll 4
  for (Index i = 0; i < length; ++i) rank += better({keyOf(from[start + i * inner]), Place(i)}, own) ? 1 : 0;
  if (rank < kept) write(from, values, places, row, rank, own.place);
}
)";

constexpr std::string_view selectText = R"(
constexpr int warps = threads / 32;
DFC_INLINE void sort(Entry* entries) {
  for (int size = 2; size <= capacity; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < capacity / 2; i += threads) {
        const int low = 2 * i - (i & (stride - 1)), high = low + stride;
        const Entry a = entries[low], b = entries[high];
        if (better(b, a) == ((low & size) == 0)) {
          entries[low] = b;
          entries[high] = a;
        }
      }
    }
  }
  __syncthreads();
}
struct Shared {
  Entry entries[capacity]; // the best so far, then those that wait
  int ofWarps[2][warps];
};
DFC_INLINE void run(const Element* from, Element* values, i64* places, const Block& block, Shared& shared) {
  auto& entries = shared.entries;
  auto& ofWarps = shared.ofWarps;
  const Entry absent{Key(0), ~Place(0)}; // worse than any element
  const Index row = block.x, start = startOf(row, length);
  const u32 lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < capacity; i += threads) entries[i] = absent;
  __syncthreads();
  Entry worst = absent; // of those kept
  int waiting = 0, turn = 0;
  for (Index tile = 0; tile < length; tile += threads * unroll) {
    Entry own[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const Index at = tile + u * threads + threadIdx.x;
      own[u] = absent;
      if (at < length) own[u] = {keyOf(from[start + at * inner]), Place(at)};
    }
    u32 votes[unroll];
    int passed = 0;
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      votes[u] = __ballot_sync(0xffffffffu, better(own[u], worst));
      passed += __popc(votes[u]);
    }
    if (lane == 0) ofWarps[turn][warp] = passed;
    __syncthreads();
    int at = best + waiting;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      at += w < warp ? ofWarps[turn][w] : 0;
      waiting += ofWarps[turn][w];
    }
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      if ((votes[u] >> lane & 1u) != 0) entries[at + __popc(votes[u] & ((1u << lane) - 1u))] = own[u];
      at += __popc(votes[u]);
    }
    turn ^= 1;
    if (waiting > capacity - best - threads * unroll || tile + threads * unroll >= length) {
      sort(entries);
      worst = entries[kept - 1];
      waiting = 0;
      __syncthreads();
      for (int i = best + threadIdx.x; i < capacity; i += threads) entries[i] = absent;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < kept; i += threads) write(from, values, places, row, i, entries[i].place);
}
)";

constexpr int64_t topKThreads = 256;
constexpr int64_t shortRow = 128;         ///< elements that are quicker compared each with each
constexpr int64_t mostEntryBytes = 32768; ///< of shared memory

class TopKWriter {
 public:
  TopKWriter(const ops::TopK& op, const TensorType& type)
      : op_(op), type_(type), view_(type.shape, op.axis), index_(type.shape.elements() + 4 * topKThreads) {}

  GeneratedKernels work() const {
    const int64_t unroll = std::clamp<int64_t>(powerOf2From(view_.length / topKThreads / 4), 1, 4);
    const int64_t best = powerOf2From(op_.k);
    const int64_t capacity = powerOf2From(best + topKThreads * unroll);
    const bool counts = view_.length <= shortRow || capacity * entryBytes() > mostEntryBytes;
    GeneratedLaunch launch;
    launch.code = head();
    if (counts) {
      launch.code += constant("Index", "rows", index_.of(view_.rows())) + std::string(rankText);
    } else {
      launch.code += constant("best", best) + constant("capacity", capacity) + constant("unroll", unroll) +
                     std::string(selectText);
    }
    launch.grid[0] =
        static_cast<uint32_t>(counts ? ceilDiv(view_.rows() * view_.length, topKThreads) : view_.rows());
    launch.threads = topKThreads;
    launch.barriers = !counts;
    launch.sharedBytes = counts ? 0 : static_cast<uint32_t>(capacity * entryBytes() + topKThreads / 32 * 8);
    launch.arguments = {
        {Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}, {Argument::From::Result, 1, 0}};
    return {{std::move(launch)}, 0};
  }

 private:
  bool wideKey() const { return byteWidth(type_.element) == 8; }
  int64_t entryBytes() const { return wideKey() || index_.type() == "u64" ? 16 : 8; }

  std::string head() const {
    const std::string flip = op_.largest ? "" : "~";
    std::string text =
        fmt::format("using Index = {0};\nusing Place = {0};\nusing Key = {1};\nusing Element = {2};\n",
                    index_.type(), wideKey() ? "u64" : "u32", storageName(type_.element));
    text += constant("Index", "length", index_.of(view_.length)) +
            constant("Index", "inner", index_.of(view_.inner)) + constant("Index", "kept", index_.of(op_.k)) +
            constant("threads", topKThreads);
    if (isFloat(type_.element)) {
      text += fmt::format("using Value = {};\nusing Real = {};\n", valueName(type_.element),
                          wideKey() ? "f64" : "f32");
    }
    return text + filled(isFloat(type_.element) ? floatKeyText : wholeKeyText, {{"flip", flip}}) +
           std::string(topKText);
  }

  const ops::TopK& op_;
  const TensorType& type_;
  AxisView view_;
  IndexText index_;
};

} // namespace

GeneratedKernels topKKernel(const ops::TopK& op, const TensorType& operand) {
  return TopKWriter(op, operand).work();
}

} // namespace dfc::cuda
