// Batch normalisation of [outer, channels, inner]. Sums of channels are carried in f64, by blocks over pieces
// of a channel, and added in order by a second launch; a variance is summed about the channel's first
// element, so that one sweep is enough: that element is no farther from the mean than sqrt(n) deviations. A
// last launch goes over the tensor: a thread keeps the numbers of its channels and walks the outer extent.
#include "runtime/cuda/kernels/families.h"

#include "ir/graph/rules/batch_norm_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace dfc::cuda {
namespace {

// sums: [piece][channel] of two numbers each.
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
    const Pack<Element, width> x = loadPack<width>(a + at), y = loadPack<width>($other$ + at);
#pragma unroll
    for (int k = 0; k < width; ++k) addTerm(first, second, f64(valueOf(x.at[k])) - center, f64(valueOf(y.at[k])));
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

// Channels side by side: a block takes 32 of them, each by 8 threads.
constexpr std::string_view columnSumsText = R"(
struct Shared { f64 ofLanes[8][32][2]; };
DFC_INLINE void run($parameters$, f64* sums, const Block& block, Shared& shared) {
  auto& ofLanes = shared.ofLanes;
  const int column = threadIdx.x % 32, lane = threadIdx.x / 32;
  const Index channel = Index(block.x) % $along$ * 32 + column, piece = Index(block.x) / $along$;
  const Index end = (piece + 1) * pieceLength < outer ? (piece + 1) * pieceLength : outer;
  f64 first = 0, second = 0;
  if (channel < channels) {
    const f64 center = $center$;
    for (Index i = piece * pieceLength + lane; i < end; i += 8) {
      const Index at = i * channels + channel;
      addTerm(first, second, f64(valueOf(a[at])) - center, f64(valueOf($other$[at])));
    }
  }
  ofLanes[lane][column][0] = first;
  ofLanes[lane][column][1] = second;
  __syncthreads();
  if (lane != 0 || channel >= channels) return;
  for (int other = 1; other < 8; ++other) {
    first += ofLanes[other][column][0];
    second += ofLanes[other][column][1];
  }
  sums[(piece * channels + channel) * 2] = first;
  sums[(piece * channels + channel) * 2 + 1] = second;
}
)";

constexpr std::string_view settleText = R"(
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index channel = Index(block.x) * 256 + threadIdx.x;
  if (channel >= channels) return;
  f64 first = sums[channel * 2], second = sums[channel * 2 + 1];
  for (Index piece = 1; piece < pieces; ++piece) {
    first += sums[(piece * channels + channel) * 2];
    second += sums[(piece * channels + channel) * 2 + 1];
  }
  const f64 n = f64(outer * inner);
$settle$}
)";

constexpr std::string_view batchNormPassText = R"(
constexpr int distinct = inner == 1 ? width : 1; // channels of a pack
struct Shared {};
DFC_INLINE void run($parameters$, Element* to, const Block& block, Shared&) {
  const Index at = Index(block.x) * 256 + threadIdx.x;
  if (at >= columns * lanes) return;
  const Index column = at % columns * width;
$numbers$#pragma unroll
  for (int k = 0; k < distinct; ++k) {
    const Index channel = column / inner + k;
$load$  }
  for (Index i = at / columns; i < outer; i += lanes) {
    const Index base = i * (channels * inner) + column;
    const Pack<Element, width> x = loadPack<width>(a + base), y = loadPack<width>($other$ + base);
    Pack<Element, width> result;
#pragma unroll
    for (int k = 0; k < width; ++k) {
      const int c = k % distinct;
      result.at[k] = stored<Element>($value$);
    }
    storePack(to + base, result);
  }
}
)";

constexpr std::string_view varianceTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64) { first += x; second += x * x; }
)";
constexpr std::string_view productTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64 g) { first += g; second += g * x; }
)";

std::string epsilonText(double epsilon) { return fmt::format("{:a}", epsilon); }

class Writer {
 public:
  Writer(const TensorType& a, int64_t axis, const GpuShape& gpu)
      : gpu_(gpu), element_(a.element), channels_(a.shape, axis), index_(a.shape.elements()) {
    const int64_t contiguous = channels_.inner == 1 ? channels_.channels : channels_.inner;
    width_ = commonPowerOf2(std::min<int64_t>(4, packBytes / byteWidth(element_)), {contiguous});
    const int64_t walked = rows() ? channels_.elements() / width_ : channels_.outer;
    const int64_t blocks = rows() ? channels_.channels : ceilDiv(channels_.channels, 32);
    const int64_t most = std::max<int64_t>(1, walked / (rows() ? 1024 : 32));
    const int64_t wanted = std::clamp<int64_t>(ceilDiv(2 * gpu.multiprocessors, blocks), 1, most);
    pieceLength_ = ceilDiv(walked, wanted);
    pieces_ = ceilDiv(walked, pieceLength_);
  }

  int64_t sumBytes() const { return pieces_ * channels_.channels * 2 * 8; }
  int64_t channelCount() const { return channels_.channels; }

  /// The text behind the constants that it mentions.
  std::string code(const std::string& text,
                   std::initializer_list<std::pair<std::string_view, int64_t>> own) const {
    std::string before =
        fmt::format("using Index = {};\nusing Element = {};\nusing Real = {};\n", index_.type(),
                    storageName(element_), element_ == ElementType::F64 ? "f64" : "f32");
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

  /// Parameters "a, …, sums"; `center`: of the channel, in f64.
  GeneratedLaunch sums(std::string_view term, const std::string& parameters, const std::string& center,
                       const std::string& other) const {
    const int64_t along = ceilDiv(channels_.channels, 32);
    const std::string text =
        std::string(term) +
        filled(
            rows() ? rowSumsText : columnSumsText,
            {{"parameters", parameters}, {"center", center}, {"other", other}, {"along", index_.of(along)}});
    GeneratedLaunch launch;
    launch.code = rows()
                      ? code(text, {{"pieceLength", pieceLength_}, {"packs", channels_.elements() / width_}})
                      : code(text, {{"pieceLength", pieceLength_}});
    launch.grid[0] = static_cast<uint32_t>((rows() ? channels_.channels : along) * pieces_);
    launch.threads = 256;
    launch.barriers = true;
    launch.sharedBytes = rows() ? sizeof(double[8][2]) : sizeof(double[8][32][2]);
    return launch;
  }

  GeneratedLaunch settle(const std::string& parameters, const std::string& settled) const {
    GeneratedLaunch launch;
    launch.code =
        code(filled(settleText, {{"parameters", parameters}, {"settle", settled}}), {{"pieces", pieces_}});
    launch.grid[0] = static_cast<uint32_t>(ceilDiv(channels_.channels, 256));
    launch.threads = 256;
    return launch;
  }

  /// `numbers`: arrays of a channel's numbers; `load`: what fills number k of them; `value`: of x.at[k] and
  /// y.at[k] with the numbers at c.
  GeneratedLaunch pass(const std::string& parameters, const std::string& numbers, const std::string& load,
                       const std::string& other, const std::string& value) const {
    const int64_t columns = channels_.channels * channels_.inner / width_;
    const int64_t lanes = std::clamp<int64_t>(2 * gpu_.residentThreads() / columns, 1, channels_.outer);
    GeneratedLaunch launch;
    launch.code = code(filled(batchNormPassText, {{"parameters", parameters},
                                                  {"numbers", numbers},
                                                  {"load", load},
                                                  {"other", other},
                                                  {"value", value}}),
                       {{"columns", columns}, {"lanes", lanes}});
    launch.grid[0] = static_cast<uint32_t>(ceilDiv(columns * lanes, 256));
    launch.threads = 256;
    return launch;
  }

 private:
  bool rows() const { return channels_.inner > 1; }

  GpuShape gpu_;
  ElementType element_;
  Channels channels_;
  IndexText index_;
  int64_t width_ = 1, pieces_ = 1, pieceLength_ = 1;
};

Argument operand(uint32_t index) { return {Argument::From::Operand, index, 0}; }
Argument result(uint32_t index) { return {Argument::From::Result, index, 0}; }
Argument workspace(int64_t offset) { return {Argument::From::Workspace, 0, offset}; }

int64_t aligned(int64_t bytes) { return ceilDiv(bytes, 256) * 256; }

// (x - mean) factor + bias; `Center`: the type in which the mean is subtracted.
GeneratedLaunch normalising(const Writer& writer, const std::string& parameters, std::string_view center,
                            const std::string& mean, const std::string& variance, double epsilon) {
  return writer.pass(parameters,
                     fmt::format("  {} mean[distinct];\n  Real factor[distinct], shift[distinct];\n", center),
                     fmt::format("    mean[k] = {};\n"
                                 "    factor[k] = Real(f64(valueOf(scale[channel])) / sqrt({} + {}));\n"
                                 "    shift[k] = Real(valueOf(bias[channel]));\n",
                                 mean, variance, epsilonText(epsilon)),
                     "a", fmt::format("Real({}(valueOf(x.at[k])) - mean[c]) * factor[c] + shift[c]", center));
}

} // namespace

GeneratedKernels batchNormKernel(const ops::BatchNorm& op, const TensorType& a, const GpuShape& gpu) {
  const Writer writer(a, op.axis, gpu);
  GeneratedLaunch launch =
      normalising(writer,
                  "const Element* a, const Element* scale, const Element* bias, const Element* means, const "
                  "Element* variances",
                  "Real", "Real(valueOf(means[channel]))", "f64(valueOf(variances[channel]))", op.epsilon);
  launch.arguments = {operand(0), operand(1), operand(2), operand(3), operand(4), result(0)};
  return {{std::move(launch)}, 0};
}

GeneratedKernels batchNormTrainingKernel(const ops::BatchNormTraining& op, const TensorType& a,
                                         const GpuShape& gpu) {
  const Writer writer(a, op.axis, gpu);
  const int64_t statistics = aligned(writer.sumBytes());
  const std::string first = "f64(valueOf(a[channel * inner]))";
  GeneratedLaunch sums = writer.sums(varianceTerm, "const Element* a", first, "a");
  sums.arguments = {operand(0), workspace(0)};
  GeneratedLaunch settle =
      writer.settle("const Element* a, const f64* sums, f64* statistics, Element* means, Element* variances",
                    "  const f64 mean = " + first +
                        " + first / n;\n"
                        "  f64 variance = (second - first * first / n) / n;\n"
                        "  variance = variance < 0 ? 0 : variance;\n"
                        "  statistics[channel * 2] = mean;\n"
                        "  statistics[channel * 2 + 1] = variance;\n"
                        "  means[channel] = stored<Element>(Real(mean));\n"
                        "  variances[channel] = stored<Element>(Real(variance));\n");
  settle.arguments = {operand(0), workspace(0), workspace(statistics), result(1), result(2)};
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Element* scale, const Element* bias, const f64* statistics", "f64",
      "statistics[channel * 2]", "statistics[channel * 2 + 1]", op.epsilon);
  pass.arguments = {operand(0), operand(1), operand(2), workspace(statistics), result(0)};
  return {{std::move(sums), std::move(settle), std::move(pass)}, statistics + writer.channelCount() * 2 * 8};
}

GeneratedKernels batchNormGradientKernel(const ops::BatchNormGradient& op, const TensorType& a,
                                         const GpuShape& gpu) {
  const Writer writer(a, op.axis, gpu);
  const int64_t factors = aligned(writer.sumBytes());
  GeneratedLaunch sums =
      writer.sums(productTerm, "const Element* a, const Element* means, const Element* cotangent",
                  "f64(valueOf(means[channel]))", "cotangent");
  sums.arguments = {operand(0), operand(2), operand(4), workspace(0)};
  GeneratedLaunch settle = writer.settle(
      "const Element* scale, const Element* variances, const f64* sums, f64* factors, "
      "Element* ofScale, Element* ofBias",
      "  const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + " + epsilonText(op.epsilon) +
          ");\n"
          "  const f64 factor = f64(valueOf(scale[channel])) * root;\n"
          "  factors[channel * 3] = factor;\n"
          "  factors[channel * 3 + 1] = factor * root * (second * root) / n;\n"
          "  factors[channel * 3 + 2] = factor * first / n;\n"
          "  ofScale[channel] = stored<Element>(Real(second * root));\n"
          "  ofBias[channel] = stored<Element>(Real(first));\n");
  settle.arguments = {operand(1), operand(3), workspace(0), workspace(factors), result(1), result(2)};
  GeneratedLaunch pass = writer.pass(
      "const Element* a, const Element* means, const Element* cotangent, const f64* factors",
      "  Real mean[distinct], ofG[distinct], ofA[distinct], rest[distinct];\n",
      "    mean[k] = Real(valueOf(means[channel]));\n"
      "    ofG[k] = Real(factors[channel * 3]);\n"
      "    ofA[k] = Real(factors[channel * 3 + 1]);\n"
      "    rest[k] = Real(factors[channel * 3 + 2]);\n",
      "cotangent", "Real(valueOf(y.at[k])) * ofG[c] - (Real(valueOf(x.at[k])) - mean[c]) * ofA[c] - rest[c]");
  pass.arguments = {operand(0), operand(2), operand(4), workspace(factors), result(0)};
  return {{std::move(sums), std::move(settle), std::move(pass)}, factors + writer.channelCount() * 3 * 8};
}

} // namespace dfc::cuda
