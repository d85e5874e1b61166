#include "compiler/lower/kernels/batch_norm/channel_launches.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// sums: [piece][channel] of two numbers each. `$loads$`: packs x and y, and whatever the term reads beside
// them; `$g$`: the number that belongs to y.at[k].
constexpr std::string_view rowSumsText = R"(
struct Shared { f64 ofWarps[8][2]; };
DFC_INLINE void run($parameters$, f64* sums, const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  const Index channel = Index(block.x) % channels, piece = Index(block.x) / channels;
  const Index end = (piece + 1) * pieceLength < packs ? (piece + 1) * pieceLength : packs;
  const f64 center = $center$;
  f64 first = 0, second = 0;
  for (Index i = piece * pieceLength + threadIdx.x; i < end; i += 256) {
    const Index at = (i / (inner / width) * channels + channel) * inner + i % (inner / width) * width;
$loads$#pragma unroll
    for (int k = 0; k < width; ++k) addTerm(first, second, f64(valueOf(x.at[k])) - center, $g$);
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    first += __shfl_xor_sync(0xffffffffu, first, lane);
    second += __shfl_xor_sync(0xffffffffu, second, lane);
  }
  if (threadIdx.x % 32 == 0) {
    ofWarps[threadIdx.x / 32][0] = first;
    ofWarps[threadIdx.x / 32][1] = second;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < 8; ++warp) {
    first += ofWarps[warp][0];
    second += ofWarps[warp][1];
  }
  sums[Index(block.x) * 2] = first;
  sums[Index(block.x) * 2 + 1] = second;
}
)";

// Channels side by side: threads of a block take `packs` packs of channels, and the rows in turn. Their sums
// are added within each warp, then over the warps.
constexpr std::string_view columnSumsText = R"(
struct Shared { f64 ofWarps[2][8][packs * width]; };
DFC_INLINE void run($parameters$, f64* sums, const Block& block, Shared& shared) {
  constexpr int lanes = 256 / packs;
  const int pack = threadIdx.x % packs, warp = threadIdx.x / 32;
  const Index channel0 = (Index(block.x) % along * packs + pack) * width;
  const Index piece = Index(block.x) / along;
  const Index end = (piece + 1) * pieceLength < outer ? (piece + 1) * pieceLength : outer;
  f64 first[width], second[width], center[width];
#pragma unroll
  for (int k = 0; k < width; ++k) {
    const Index channel = channel0 + k;
    first[k] = second[k] = 0;
    center[k] = channel < channels ? $center$ : 0;
  }
  if (channel0 < channels) {
    for (Index i0 = piece * pieceLength + threadIdx.x / packs; i0 < end; i0 += lanes * ahead) {
$declare$#pragma unroll
      for (int u = 0; u < ahead; ++u) { // all loads before the first use
        const Index i = i0 + u * lanes, at = i * channels + channel0;
        if (i < end) {
$loads$        }
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        if (i0 + u * lanes < end) {
$names$#pragma unroll
          for (int k = 0; k < width; ++k) {
            addTerm(first[k], second[k], f64(valueOf(x.at[k])) - center[k], $g$);
          }
        }
      }
    }
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
#pragma unroll
    for (int distance = 16; distance >= packs; distance /= 2) {
      first[k] += __shfl_xor_sync(0xffffffffu, first[k], distance);
      second[k] += __shfl_xor_sync(0xffffffffu, second[k], distance);
    }
    if (threadIdx.x % 32 < packs) {
      shared.ofWarps[0][warp][pack * width + k] = first[k];
      shared.ofWarps[1][warp][pack * width + k] = second[k];
    }
  }
  __syncthreads();
  for (int own = threadIdx.x; own < packs * width; own += 256) {
    const Index channel = Index(block.x) % along * (packs * width) + own;
    if (channel >= channels) return;
    Pack<f64, 2> both = {{0, 0}};
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      both.at[0] += shared.ofWarps[0][w][own];
      both.at[1] += shared.ofWarps[1][w][own];
    }
    storePack(sums + (piece * channels + channel) * 2, both);
  }
}
)";

// A warp adds the pieces of a channel; all loads are under way at once.
constexpr std::string_view settleText = R"(
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index channel = Index(block.x) * 8 + threadIdx.x / 32;
  if (channel >= channels) return;
  f64 first = 0, second = 0;
#pragma unroll
  for (Index i = 0; i < (pieces + 31) / 32; ++i) {
    const Index piece = i * 32 + threadIdx.x % 32;
    if (piece < pieces) {
      const Pack<f64, 2> both = loadPack<2>(sums + (piece * channels + channel) * 2);
      first += both.at[0];
      second += both.at[1];
    }
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    first += __shfl_xor_sync(0xffffffffu, first, lane);
    second += __shfl_xor_sync(0xffffffffu, second, lane);
  }
  if (threadIdx.x % 32 != 0) return;
$settle$}
)";

// A thread keeps the numbers of its pack's channels, read 16 bytes at a time, and walks the outer extent.
constexpr std::string_view batchNormPassText = R"(
constexpr int distinct = inner == 1 ? width : 1; // channels of a pack
template <class S> DFC_INLINE void loadNumbers(S (&to)[distinct], const S* from) {
  constexpr int most = 16 / int(sizeof(S)), piece = distinct < most ? distinct : most;
#pragma unroll
  for (int first = 0; first < distinct; first += piece) {
    const Pack<S, piece> pack = loadPack<piece>(from + first);
#pragma unroll
    for (int k = 0; k < piece; ++k) to[first + k] = pack.at[k];
  }
}
struct Shared {};
DFC_INLINE void run($parameters$, Element* to$writes$, const Block& block, Shared&) {
  const Index thread = Index(block.x) * 256 + threadIdx.x;
  if (thread >= columns * lanes) return;
  const Index column = thread % columns * width, channel = column / inner;
$numbers$$derived$  for (Index i0 = thread / columns; i0 < outer; i0 += lanes * ahead) {
$declare$#pragma unroll
    for (int u = 0; u < ahead; ++u) { // all loads before the first store
      const Index i = i0 + u * lanes, at = i * (channels * inner) + column;
      if (i < outer) {
$loads$      }
    }
#pragma unroll
    for (int u = 0; u < ahead; ++u) {
      const Index i = i0 + u * lanes, at = i * (channels * inner) + column;
      if (i >= outer) return;
$names$      Pack<Element, width> result;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const int c = k % distinct;
        result.at[k] = stored<Element>($value$);
      }
      storePack(to + at, result);
$stores$    }
  }
}
)";

std::string joined(const LoadList& list, std::string_view format) {
  std::string text;
  for (const Loaded& one : list) {
    text += fmt::format(fmt::runtime(format), fmt::arg("pack", one.pack), fmt::arg("tensor", one.tensor));
  }
  return text;
}

} // namespace

const std::string_view varianceTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64) { first += x; second += x * x; }
)";
const std::string_view productTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64 g) { first += g; second += g * x; }
)";

ChannelLaunches::ChannelLaunches(const TensorType& a, ElementType vector, int64_t axis, const GpuShape& gpu)
    : gpu_(gpu), element_(a.element), vector_(vector), channels_(a.shape, axis), index_(a.shape.elements()) {
  const int64_t contiguous = channels_.inner == 1 ? channels_.channels : channels_.inner;
  width_ = commonPowerOf2(packBytes / byteWidth(element_), {contiguous});
  packs_ = powerOf2From(std::min<int64_t>(32, channels_.channels / width_));
  const int64_t walked = rows() ? channels_.elements() / width_ : channels_.outer;
  const int64_t blocks = rows() ? channels_.channels : along();
  const int64_t most = std::max<int64_t>(1, walked / (rows() ? 1024 : 4 * 256 / packs_));
  const int64_t wanted = std::clamp<int64_t>(ceilDiv(2 * gpu.multiprocessors, blocks), 1, most);
  pieceLength_ = ceilDiv(walked, wanted);
  pieces_ = ceilDiv(walked, pieceLength_);
}

int64_t ChannelLaunches::along() const { return ceilDiv(channels_.channels / width_, packs_); }

std::string ChannelLaunches::code(const std::string& text,
                                  std::initializer_list<std::pair<std::string_view, int64_t>> own) const {
  std::string before = fmt::format(
      "using Index = {};\nusing Element = {};\nusing Vector = {};\nusing Real = {};\n", index_.type(),
      storageName(element_), storageName(vector_), element_ == ElementType::F64 ? "f64" : "f32");
  for (const auto& [name, value] : own) {
    before += constant("Index", name, index_.of(value));
  }
  for (const auto& [name, value] : {std::pair<std::string_view, int64_t>{"outer", channels_.outer},
                                    {"channels", channels_.channels},
                                    {"inner", channels_.inner}}) {
    before += text.find(name) != std::string::npos ? constant("Index", name, index_.of(value)) : "";
  }
  return before + (text.find("width") != std::string::npos ? constant("width", width_) : "") + text;
}

GeneratedLaunch ChannelLaunches::sums(std::string_view term, const std::string& parameters,
                                      const std::string& center, const LoadList& loads,
                                      const std::string& g) const {
  const std::string start(term);
  GeneratedLaunch launch;
  if (rows()) {
    const std::string text =
        start + filled(rowSumsText, {{"parameters", parameters},
                                     {"center", center},
                                     {"loads", joined(loads, "    const Pack<Element, width> {pack} = "
                                                             "loadPack<width>({tensor} + at);\n")},
                                     {"g", g}});
    launch.code = code(text, {{"pieceLength", pieceLength_}, {"packs", channels_.elements() / width_}});
  } else {
    const std::string text =
        start + filled(columnSumsText,
                       {{"parameters", parameters},
                        {"center", center},
                        {"declare", joined(loads, "      Pack<Element, width> {pack}s[ahead];\n")},
                        {"loads", joined(loads, "          {pack}s[u] = loadPack<width>({tensor} + at);\n")},
                        {"names", joined(loads, "          const auto& {pack} = {pack}s[u];\n")},
                        {"g", g}});
    // As many loads under way as registers hold beside the sums.
    const int64_t rows = ceilDiv(pieceLength_ * packs_, 256);
    const int64_t ahead = std::min<int64_t>(rows, loads.size() == 1 ? 8 : 4);
    launch.code =
        code(text, {{"pieceLength", pieceLength_}, {"packs", packs_}, {"along", along()}, {"ahead", ahead}});
  }
  launch.grid[0] = static_cast<uint32_t>((rows() ? channels_.channels : along()) * pieces_);
  launch.threads = 256;
  launch.barriers = true;
  launch.sharedBytes =
      rows() ? sizeof(double[8][2]) : static_cast<uint32_t>(sizeof(double[2][8]) * packs_ * width_);
  return launch;
}

GeneratedLaunch ChannelLaunches::settle(const std::string& parameters, const std::string& settled) const {
  GeneratedLaunch launch;
  launch.code =
      code(filled(settleText, {{"parameters", parameters}, {"settle", settled}}), {{"pieces", pieces_}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(channels_.channels, 8));
  launch.threads = 256;
  return launch;
}

GeneratedLaunch ChannelLaunches::pass(const Pass& pass) const {
  const int64_t columns = channels_.channels * channels_.inner / width_;
  constexpr int64_t rowsAhead = 4; // loads under way in a thread
  // Of small tensors fewer threads than fit: reading a channel's numbers takes as long as several rows.
  const int64_t lanes =
      std::clamp<int64_t>(gpu_.residentThreads() / columns, 1, ceilDiv(channels_.outer, rowsAhead));
  std::string numbers;
  for (const Number& one : pass.numbers) {
    numbers += fmt::format("  {} {}[distinct];\n  loadNumbers({}, {} + channel);\n", one.type, one.name,
                           one.name, one.from);
  }
  GeneratedLaunch launch;
  launch.code =
      code(filled(batchNormPassText,
                  {{"parameters", pass.parameters},
                   {"writes", pass.writes},
                   {"numbers", numbers},
                   {"derived", pass.derived},
                   {"declare", joined(pass.loads, "    Pack<Element, width> {pack}s[ahead];\n")},
                   {"loads", joined(pass.loads, "        {pack}s[u] = loadPack<width>({tensor} + at);\n")},
                   {"names", joined(pass.loads, "      const auto& {pack} = {pack}s[u];\n")},
                   {"value", pass.value},
                   {"stores", pass.stores}}),
           {{"columns", columns}, {"lanes", lanes}, {"ahead", rowsAhead}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(columns * lanes, 256));
  launch.threads = 256;
  return launch;
}

} // namespace dfc::cuda
