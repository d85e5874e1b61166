// cumSum: a tensor seen as [outer, length, inner]. Where inner is 1, a block scans a row tile by tile: each
// thread sums its own elements, lanes scan those sums (Hillis and Steele 1986), warps add those before them.
// Else each thread walks down a few neighbouring columns. Few long rows are cut into chunks: a first launch
// sums each chunk, the second scans it from the sum of all before. Carried in f64 (integers: u64, which
// wraps), in an order that the shape fixes.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// Places are counted in the order of the sum; `loaded` gives `width` of them, and `offsetOf` where they lie.
constexpr std::string_view cumSumText = R"(
DFC_INLINE Sum chunkBase(const Sum* totals, Index outer, Index chunk, Index column) {
  Sum base = Sum(0);
#pragma unroll 8
  for (Index c = 0; c < chunk; ++c) base += totals[(outer * chunks + c) * inner + column];
  return base;
}
)";

constexpr std::string_view rowText = R"(
DFC_INLINE Index offsetOf(Index place) { return $offset$; }
DFC_INLINE void load(Sum (&x)[per], const Element* row, Index place, Index end) {
#pragma unroll
  for (int p = 0; p < per; p += width) {
    Pack<Element, width> pack = splatPack<width>(Element{});
    if (place + p < end) pack = loadPack<width>(row + offsetOf(place + p));
#pragma unroll
    for (int k = 0; k < width; ++k) x[p + k] = Sum(valueOf(pack.at[$lane$]));
  }
}
DFC_INLINE Sum sumOf(const Sum (&x)[per]) {
  Sum sum = x[0];
#pragma unroll
  for (int k = 1; k < per; ++k) sum += x[k];
  return sum;
}
)";

// The total of a chunk, by a block.
constexpr std::string_view rowTotalText = R"(
struct Shared { Sum ofWarps[threads / 32]; };
DFC_INLINE void run(const Element* from, Sum* totals, const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  const Index outer = block.x, begin = Index(block.y) * chunk;
  const Index end = begin + chunk < length ? begin + chunk : length;
  Sum sum = Sum(0);
  for (Index place = begin + threadIdx.x * per; place < end; place += threads * per) {
    Sum x[per];
    load(x, from + outer * length, place, end);
    sum += sumOf(x);
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < threads / 32; ++warp) sum += ofWarps[warp];
    totals[outer * chunks + block.y] = sum;
  }
}
)";

constexpr std::string_view rowScanText = R"(
struct Shared { Sum ofWarps[2][threads / 32]; };
DFC_INLINE void run(const Element* from, $totals$Element* to, const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  const Index outer = block.x, begin = Index(block.y) * chunk;
  const Index end = begin + chunk < length ? begin + chunk : length;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Sum base = $base$;
  int turn = 0;
  for (Index tile = begin; tile < end; tile += threads * per, turn ^= 1) {
    const Index place = tile + threadIdx.x * per;
    Sum x[per];
    load(x, from + outer * length, place, end);
    const Sum own = sumOf(x);
    Sum before = own; // of the warp's lanes up to this one
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
      const Sum other = __shfl_up_sync(0xffffffffu, before, distance);
      if (lane >= distance) before += other;
    }
    if (lane == 31) ofWarps[turn][warp] = before;
    before = __shfl_up_sync(0xffffffffu, before, 1);
    if (lane == 0) before = Sum(0);
    __syncthreads();
    Sum warps = Sum(0), all = Sum(0);
#pragma unroll
    for (int w = 0; w < threads / 32; ++w) {
      if (w == warp) warps = all;
      all += ofWarps[turn][w];
    }
    Sum sum = base + (warps + before);
    base += all;
#pragma unroll
    for (int p = 0; p < per; p += width) {
      Pack<Element, width> pack;
#pragma unroll
      for (int k = 0; k < width; ++k) {
$before$        sum += x[p + k];
        pack.at[$lane$] = stored<Element>(Value($sum$));
      }
      if (place + p < end) storePack(to + outer * length + offsetOf(place + p), pack);
    }
  }
}
)";

// Neighbouring columns, the places of a chunk one after the other.
constexpr std::string_view columnText = R"(
struct Shared {};
DFC_INLINE void run(const Element* from, $parameters$, const Block& block, Shared&) {
  const Index pack = Index(block.x) * threads + threadIdx.x;
  if (pack >= packs) return;
  const Index column = pack * width % inner, outer = pack * width / inner;
  const Index begin = Index(block.y) * chunk, end = begin + chunk < length ? begin + chunk : length;
  const Index base = outer * length * inner + column;
  Sum sum[width];
#pragma unroll
  for (int k = 0; k < width; ++k) sum[k] = $start$;
#pragma unroll 4
  for (Index place = begin; place < end; ++place) {
    const Index at = base + ($offset$) * inner;
    Pack<Element, width> x = loadPack<width>(from + at);
#pragma unroll
    for (int k = 0; k < width; ++k) {
$before$      sum[k] += Sum(valueOf(x.at[k]));
      x.at[k] = stored<Element>(Value($sum$));
    }
$store$  }
$end$}
)";

constexpr int64_t mostThreads = 256;
constexpr int64_t mostChunks = 256;

class CumSumWriter {
 public:
  CumSumWriter(const ops::CumSum& op, const TensorType& type, const GpuShape& gpu)
      : op_(op), type_(type), view_(type.shape, op.axis) {
    width_ =
        commonPowerOf2(packBytes / byteWidth(type.element), {view_.inner == 1 ? view_.length : view_.inner});
    width_ = byRows() ? width_ : std::min<int64_t>(4, width_);
    per_ = std::max<int64_t>(4, width_);
    if (byRows()) {
      threads_ = std::clamp<int64_t>(powerOf2From(ceilDiv(view_.length, per_)), 32, mostThreads);
    }
    // Enough work for every multiprocessor, but no chunk so short that its launch outweighs it.
    const int64_t least = byRows() ? threads_ * per_ * 4 : 64;
    const int64_t workers = byRows() ? view_.outer * threads_ : view_.rows() / width_;
    const int64_t wanted = std::clamp<int64_t>(gpu.residentThreads() / 2 / workers, 1, mostChunks);
    const int64_t parts = std::clamp<int64_t>(view_.length / least, 1, wanted);
    const int64_t unit = byRows() ? width_ : 1;
    chunk_ = ceilDiv(ceilDiv(view_.length, parts), unit) * unit;
    chunks_ = ceilDiv(view_.length, chunk_);
  }

  GeneratedKernels work() const {
    GeneratedKernels work;
    if (chunks_ > 1) {
      work.launches.push_back(launch(true));
      work.workspaceBytes = view_.outer * chunks_ * view_.inner * 8;
    }
    work.launches.push_back(launch(false));
    return work;
  }

 private:
  bool byRows() const { return view_.inner == 1; }
  std::string sum(std::string_view inclusive) const {
    return op_.exclusive ? "exclusive" : std::string(inclusive);
  }

  std::string constants(const IndexText& index) const {
    std::string text = fmt::format(
        "using Index = {};\nusing Element = {};\nusing Value = {};\nusing Sum = {};\n", index.type(),
        storageName(type_.element), valueName(type_.element), isFloat(type_.element) ? "f64" : "u64");
    text += constant("Index", "length", index.of(view_.length)) +
            constant("Index", "inner", index.of(view_.inner)) + constant("Index", "chunk", index.of(chunk_)) +
            constant("Index", "chunks", index.of(chunks_));
    text += byRows() ? constant("per", per_) : constant("Index", "packs", index.of(view_.rows() / width_));
    return text + constant("threads", threads_) + constant("width", width_);
  }

  std::string rowCode(bool totals) const {
    const std::string lane = op_.reverse ? "width - 1 - k" : "k";
    const std::string offset = op_.reverse ? "length - width - place" : "place";
    return filled(rowText, {{"offset", offset}, {"lane", lane}}) +
           (totals ? std::string(rowTotalText)
                   : filled(rowScanText,
                            {{"totals", chunks_ > 1 ? "const Sum* totals, " : ""},
                             {"base", chunks_ > 1 ? "chunkBase(totals, outer, block.y, 0)" : "Sum(0)"},
                             {"lane", lane},
                             {"before", op_.exclusive ? "        const Sum exclusive = sum;\n" : ""},
                             {"sum", sum("sum")}}));
  }

  std::string columnCode(bool totals) const {
    const bool cut = chunks_ > 1 && !totals;
    return filled(
        columnText,
        {{"parameters", totals ? "Sum* totals"
                        : cut  ? "const Sum* totals, Element* to"
                               : "Element* to"},
         {"start", cut ? "chunkBase(totals, outer, block.y, column + k)" : "Sum(0)"},
         {"offset", op_.reverse ? "length - 1 - place" : "place"},
         {"before", op_.exclusive ? "      const Sum exclusive = sum[k];\n" : ""},
         {"sum", sum("sum[k]")},
         {"store", totals ? "" : "    storePack(to + at, x);\n"},
         {"end", totals ? "#pragma unroll\n  for (int k = 0; k < width; ++k) totals[(outer * chunks + "
                          "block.y) * inner + column + k] = sum[k];\n"
                        : ""}});
  }

  GeneratedLaunch launch(bool totals) const {
    const IndexText index(type_.shape.elements() + threads_ * per_); // a tile may reach beyond the end
    GeneratedLaunch launch;
    launch.code =
        constants(index) + std::string(cumSumText) + (byRows() ? rowCode(totals) : columnCode(totals));
    launch.grid[0] = static_cast<uint32_t>(byRows() ? view_.outer : ceilDiv(view_.rows() / width_, threads_));
    launch.grid[1] = static_cast<uint32_t>(chunks_);
    launch.threads = static_cast<uint32_t>(threads_);
    launch.barriers = byRows();
    launch.sharedBytes = byRows() ? static_cast<uint32_t>(threads_ / 32 * (totals ? 8 : 16)) : 0;
    launch.arguments.push_back({Argument::From::Operand, 0, 0});
    if (chunks_ > 1) {
      launch.arguments.push_back({Argument::From::Workspace, 0, 0});
    }
    if (!totals) {
      launch.arguments.push_back({Argument::From::Result, 0, 0});
    }
    return launch;
  }

  const ops::CumSum& op_;
  const TensorType& type_;
  AxisView view_;
  int64_t width_ = 1, per_ = 1, threads_ = mostThreads; // elements of an access; of a thread; of a block
  int64_t chunk_ = 1, chunks_ = 1;                      // places; of a row
};

} // namespace

GeneratedKernels cumSumKernel(const ops::CumSum& op, const TensorType& operand, const GpuShape& gpu) {
  return CumSumWriter(op, operand, gpu).work();
}

} // namespace dfc::cuda
