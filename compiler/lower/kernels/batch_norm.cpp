// Batch normalisation of [outer, channels, inner]. Sums of channels are carried in f64, by blocks over pieces
// of a channel, and added in order by a second launch; a variance is summed about the channel's first
// element, so that one sweep is enough: that element is no farther from the mean than sqrt(n) deviations. A
// last launch goes over the tensor: a thread keeps the numbers of its channels and walks the outer extent.
#include "compiler/lower/kernels/families.h"

#include "ir/graph/rules/batch_norm_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

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

// Channels side by side: threads of a block take `packs` packs of channels, and the rows in turn.
constexpr std::string_view columnSumsText = R"(
struct Shared { f64 first[256], second[256]; };
DFC_INLINE void run($parameters$, f64* sums, const Block& block, Shared& shared) {
  constexpr int lanes = 256 / packs;
  const int lane = threadIdx.x / packs;
  const Index channel0 = (Index(block.x) % along * packs + threadIdx.x % packs) * width;
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
#pragma unroll 4
    for (Index i = piece * pieceLength + lane; i < end; i += lanes) {
      const Index at = i * channels + channel0;
$loads$#pragma unroll
      for (int k = 0; k < width; ++k) {
        addTerm(first[k], second[k], f64(valueOf(x.at[k])) - center[k], $g$);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < width; ++k) {
    shared.first[threadIdx.x] = first[k];
    shared.second[threadIdx.x] = second[k];
    __syncthreads();
    for (int half = 128; half >= packs; half /= 2) {
      if (threadIdx.x < half) {
        shared.first[threadIdx.x] += shared.first[threadIdx.x + half];
        shared.second[threadIdx.x] += shared.second[threadIdx.x + half];
      }
      __syncthreads();
    }
    if (lane == 0 && channel0 < channels) {
      sums[(piece * channels + channel0 + k) * 2] = shared.first[threadIdx.x];
      sums[(piece * channels + channel0 + k) * 2 + 1] = shared.second[threadIdx.x];
    }
    __syncthreads();
  }
}
)";

// A warp adds the pieces of a channel.
constexpr std::string_view settleText = R"(
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index channel = Index(block.x) * 8 + threadIdx.x / 32;
  if (channel >= channels) return;
  f64 first = 0, second = 0;
  for (Index piece = threadIdx.x % 32; piece < pieces; piece += 32) {
    first += sums[(piece * channels + channel) * 2];
    second += sums[(piece * channels + channel) * 2 + 1];
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) {
    first += __shfl_xor_sync(0xffffffffu, first, lane);
    second += __shfl_xor_sync(0xffffffffu, second, lane);
  }
  if (threadIdx.x % 32 != 0) return;
$settle$}
)";

constexpr std::string_view batchNormPassText = R"(
constexpr int distinct = inner == 1 ? width : 1; // channels of a pack
struct Shared {};
DFC_INLINE void run($parameters$, Element* to$writes$, const Block& block, Shared&) {
  const Index thread = Index(block.x) * 256 + threadIdx.x;
  if (thread >= columns * lanes) return;
  const Index column = thread % columns * width;
$numbers$#pragma unroll
  for (int k = 0; k < distinct; ++k) {
    const Index channel = column / inner + k;
$load$  }
  for (Index i0 = thread / columns; i0 < outer; i0 += lanes * ahead) {
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

constexpr std::string_view varianceTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64) { first += x; second += x * x; }
)";
constexpr std::string_view productTerm = R"(
DFC_INLINE void addTerm(f64& first, f64& second, f64 x, f64 g) { first += g; second += g * x; }
)";

// A tensor and the name of its pack in a text.
struct Loaded {
  std::string_view pack, tensor;
};
using LoadList = llvm::SmallVector<Loaded, 3>;

std::string joined(const LoadList& list, std::string_view format) {
  std::string text;
  for (const Loaded& one : list) {
    text += fmt::format(fmt::runtime(format), fmt::arg("pack", one.pack), fmt::arg("tensor", one.tensor));
  }
  return text;
}

std::string epsilonText(double epsilon) { return fmt::format("{:a}", epsilon); }

class Writer {
 public:
  /// `vector`: the element type of a channel's numbers.
  Writer(const TensorType& a, ElementType vector, int64_t axis, const GpuShape& gpu)
      : gpu_(gpu), element_(a.element), vector_(vector), channels_(a.shape, axis),
        index_(a.shape.elements()) {
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

  int64_t sumBytes() const { return pieces_ * channels_.channels * 2 * 8; }
  int64_t channelCount() const { return channels_.channels; }

  /// The text behind the constants that it mentions.
  std::string code(const std::string& text,
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

  /// Parameters "a, …, sums"; `center`: of the channel, in f64; `loads` and `g` as the texts have them.
  GeneratedLaunch sums(std::string_view term, const std::string& parameters, const std::string& center,
                       const LoadList& loads, const std::string& g) const {
    const std::string text =
        std::string(term) +
        filled(rows() ? rowSumsText : columnSumsText,
               {{"parameters", parameters},
                {"center", center},
                {"loads",
                 joined(loads, "    const Pack<Element, width> {pack} = loadPack<width>({tensor} + at);\n")},
                {"g", g}});
    GeneratedLaunch launch;
    launch.code = rows()
                      ? code(text, {{"pieceLength", pieceLength_}, {"packs", channels_.elements() / width_}})
                      : code(text, {{"pieceLength", pieceLength_}, {"packs", packs_}, {"along", along()}});
    launch.grid[0] = static_cast<uint32_t>((rows() ? channels_.channels : along()) * pieces_);
    launch.threads = 256;
    launch.barriers = true;
    launch.sharedBytes = rows() ? sizeof(double[8][2]) : sizeof(double[2][256]);
    return launch;
  }

  GeneratedLaunch settle(const std::string& parameters, const std::string& settled) const {
    GeneratedLaunch launch;
    launch.code =
        code(filled(settleText, {{"parameters", parameters}, {"settle", settled}}), {{"pieces", pieces_}});
    launch.grid[0] = static_cast<uint32_t>(ceilDiv(channels_.channels, 8));
    launch.threads = 256;
    return launch;
  }

  /// What the launch over the tensor computes.
  struct Pass {
    std::string parameters;
    std::string numbers;     ///< arrays of a channel's numbers
    std::string load;        ///< what fills number k of them
    LoadList loads;          ///< the packs that `value` reads
    std::string value;       ///< of element k, with the numbers at c
    std::string writes = {}; ///< further results, as parameters
    std::string stores = {}; ///< and how they are stored
  };
  GeneratedLaunch pass(const Pass& pass) const {
    const int64_t columns = channels_.channels * channels_.inner / width_;
    constexpr int64_t rowsAhead = 4; // loads under way in a thread
    const int64_t lanes = std::clamp<int64_t>(gpu_.residentThreads() / columns, 1, channels_.outer);
    GeneratedLaunch launch;
    launch.code =
        code(filled(batchNormPassText,
                    {{"parameters", pass.parameters},
                     {"writes", pass.writes},
                     {"numbers", pass.numbers},
                     {"load", pass.load},
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

 private:
  bool rows() const { return channels_.inner > 1; }
  int64_t along() const { return ceilDiv(channels_.channels / width_, packs_); } // blocks side by side

  GpuShape gpu_;
  ElementType element_, vector_;
  Channels channels_;
  IndexText index_;
  int64_t width_ = 1, packs_ = 1, pieces_ = 1, pieceLength_ = 1;
};

Argument operand(uint32_t index) { return {Argument::From::Operand, index, 0}; }
Argument result(uint32_t index) { return {Argument::From::Result, index, 0}; }
Argument workspace(int64_t offset) { return {Argument::From::Workspace, 0, offset}; }

int64_t aligned(int64_t bytes) { return ceilDiv(bytes, 256) * 256; }

// What follows the normalisation in the same pass.
struct Ending {
  bool relu = false;
  bool addend = false; ///< a tensor of that name is added before the relu
};

// (x - mean) inverse scale + bias, from left to right: inverse times scale may overflow where the result does
// not. `center`: the type in which the mean is subtracted.
GeneratedLaunch normalising(const Writer& writer, const std::string& parameters, std::string_view center,
                            const std::string& mean, const std::string& variance, double epsilon,
                            Ending ending = {}) {
  const std::string normal =
      fmt::format("Real({}(valueOf(x.at[k])) - mean[c]) * inverse[c] * factor[c] + shift[c]", center);
  const std::string sum = ending.addend ? normal + " + Real(valueOf(z.at[k]))" : normal;
  return writer.pass(
      {parameters + (ending.addend ? ", const Element* addend" : ""),
       fmt::format("  {} mean[distinct];\n  Real inverse[distinct], factor[distinct], shift[distinct];\n",
                   center),
       fmt::format("    mean[k] = {};\n"
                   "    inverse[k] = Real(1.0 / sqrt({} + {}));\n"
                   "    factor[k] = Real(valueOf(scale[channel]));\n"
                   "    shift[k] = Real(valueOf(bias[channel]));\n",
                   mean, variance, epsilonText(epsilon)),
       ending.addend ? LoadList{{"x", "a"}, {"z", "addend"}} : LoadList{{"x", "a"}},
       ending.relu ? fmt::format("larger({}, Real(0))", sum) : sum});
}

// The cotangent of a batch norm, behind a relu where the relu's result is positive; as kernels with the
// parameters a, means and cotangent read it.
class Cotangents {
 public:
  explicit Cotangents(bool relu) : relu_(relu) {}
  std::string gated() const { return relu_ ? ", const Element* gates" : ""; } ///< a further parameter
  LoadList loads() const {
    LoadList loads = {{"x", "a"}, {"y", "cotangent"}};
    if (relu_) {
      loads.push_back({"mask", "gates"});
    }
    return loads;
  }
  std::string g() const {
    return relu_ ? "(valueOf(mask.at[k]) > 0 ? Real(valueOf(y.at[k])) : Real(0))" : "Real(valueOf(y.at[k]))";
  }
  /// Of g, and of g times a's distance from the mean, into the workspace. `given`: a, means and cotangent.
  GeneratedLaunch sums(const Writer& writer, std::initializer_list<Argument> given,
                       const Argument& gates) const {
    GeneratedLaunch sums =
        writer.sums(productTerm, "const Element* a, const Vector* means, const Element* cotangent" + gated(),
                    "f64(valueOf(means[channel]))", loads(), "f64(" + g() + ")");
    sums.arguments = given;
    if (relu_) {
      sums.arguments.push_back(gates);
    }
    sums.arguments.push_back(workspace(0));
    return sums;
  }
  /// The pass that gives the gradient to a, and with `addend` g; `load` fills the numbers k of a channel:
  /// mean, the factors of g and of a's distance from it, and what is subtracted.
  Writer::Pass pass(const std::string& parameters, const std::string& load, bool addend) const {
    return {parameters + gated(),
            "  Real mean[distinct], ofG[distinct], ofA[distinct], rest[distinct];\n",
            load,
            loads(),
            g() + " * ofG[c] - (Real(valueOf(x.at[k])) - mean[c]) * ofA[c] - rest[c]",
            addend ? ", Element* ofAddend" : "",
            addend ? "    Pack<Element, width> kept;\n"
                     "#pragma unroll\n"
                     "    for (int k = 0; k < width; ++k) kept.at[k] = stored<Element>(" +
                         g() +
                         ");\n"
                         "    storePack(ofAddend + at, kept);\n"
                   : ""};
  }

 private:
  bool relu_;
};

} // namespace

GeneratedKernels batchNormKernel(const ops::BatchNorm& op, OperandTypes operands, const GpuShape& gpu) {
  const Writer writer(operands[0], operands[1].element, op.axis, gpu);
  GeneratedLaunch launch =
      normalising(writer,
                  "const Element* a, const Vector* scale, const Vector* bias, const Vector* means, const "
                  "Vector* variances",
                  "Real", "Real(valueOf(means[channel]))", "f64(valueOf(variances[channel]))", op.epsilon);
  launch.arguments = {operand(0), operand(1), operand(2), operand(3), operand(4), result(0)};
  return {{std::move(launch)}, 0};
}

GeneratedKernels batchNormTrainingKernel(const ops::BatchNormTraining& op, OperandTypes operands,
                                         const GpuShape& gpu) {
  const Writer writer(operands[0], operands[1].element, op.axis, gpu);
  const int64_t statistics = aligned(writer.sumBytes());
  // Sums are of distances from a channel's first element; from an infinite one every distance would be NaN.
  const std::string element = "f64(valueOf(a[channel * inner]))";
  const std::string first = "(" + element + " - " + element + " == 0.0 ? " + element + " : 0.0)";
  GeneratedLaunch sums = writer.sums(varianceTerm, "const Element* a", first, {{"x", "a"}}, "0.0");
  sums.arguments = {operand(0), workspace(0)};
  GeneratedLaunch settle =
      writer.settle("const Element* a, const f64* sums, f64* statistics, Vector* means, Vector* variances",
                    "  const f64 n = f64(outer * inner);\n  const f64 mean = " + first +
                        " + first / n;\n"
                        "  f64 variance = (second - first * first / n) / n;\n"
                        "  variance = variance < 0 ? 0 : variance;\n"
                        "  statistics[channel * 2] = mean;\n"
                        "  statistics[channel * 2 + 1] = variance;\n"
                        "  means[channel] = stored<Vector>(Real(mean));\n"
                        "  variances[channel] = stored<Vector>(Real(variance));\n");
  settle.arguments = {operand(0), workspace(0), workspace(statistics), result(1), result(2)};
  const bool addend = operands.size() == 4;
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Vector* scale, const Vector* bias, const f64* statistics", "f64",
      "statistics[channel * 2]", "statistics[channel * 2 + 1]", op.epsilon, {op.relu, addend});
  pass.arguments = {operand(0), operand(1), operand(2), workspace(statistics)};
  if (addend) {
    pass.arguments.push_back(operand(3));
  }
  pass.arguments.push_back(result(0));
  return {{std::move(sums), std::move(settle), std::move(pass)}, statistics + writer.channelCount() * 2 * 8};
}

// The mean and the variance by sums about 0.
GeneratedKernels batchNormPassKernel(const ops::BatchNormPass& op, OperandTypes operands,
                                     const GpuShape& gpu) {
  const Writer writer(operands[0], operands[1].element, op.axis, gpu);
  const std::string mean = fmt::format("(sums[channel] / {}.0)", op.count);
  GeneratedLaunch pass = normalising(
      writer, "const Element* a, const Vector* scale, const Vector* bias, const f64* sums", "f64", mean,
      fmt::format("notNegative(sums[channels + channel] / {}.0 - {} * {})", op.count, mean, mean), op.epsilon,
      {op.relu, operands.size() == 5});
  pass.code = "DFC_INLINE f64 notNegative(f64 a) { return a < 0 ? 0 : a; }\n" + pass.code;
  pass.arguments = {operand(0), operand(1), operand(2), operand(3)};
  if (operands.size() == 5) {
    pass.arguments.push_back(operand(4));
  }
  pass.arguments.push_back(result(0));
  return {{std::move(pass)}, 0};
}

GeneratedKernels batchNormGradientPassKernel(const ops::BatchNormGradientPass& op, OperandTypes operands,
                                             const GpuShape& gpu) {
  const Writer writer(operands[0], operands[1].element, op.axis, gpu);
  const Cotangents cotangents(op.relu);
  GeneratedLaunch pass = writer.pass(cotangents.pass(
      "const Element* a, const Vector* scale, const Vector* means, const Vector* variances, const Element* "
      "cotangent, const f64* sums",
      fmt::format("    const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + {});\n"
                  "    const f64 scaled = f64(valueOf(scale[channel])) * root;\n"
                  "    mean[k] = Real(valueOf(means[channel]));\n"
                  "    ofG[k] = Real(scaled);\n"
                  "    ofA[k] = Real(scaled * root * (sums[channels + channel] * root) / {}.0);\n"
                  "    rest[k] = Real(scaled * sums[channel] / {}.0);\n",
                  epsilonText(op.epsilon), op.count, op.count),
      op.addend));
  pass.arguments = {operand(0), operand(1), operand(2), operand(3), operand(4), operand(5)};
  if (op.relu) {
    pass.arguments.push_back(operand(6));
  }
  pass.arguments.push_back(result(0));
  if (op.addend) {
    pass.arguments.push_back(result(1));
  }
  return {{std::move(pass)}, 0};
}

GeneratedKernels batchNormSumsKernel(const ops::BatchNormSums& op, OperandTypes operands,
                                     const GpuShape& gpu) {
  const bool ofGradient = operands.size() > 1;
  const Writer writer(operands[0], operands[ofGradient ? 1 : 0].element, op.axis, gpu);
  GeneratedLaunch sums;
  if (ofGradient) {
    sums = Cotangents(op.relu).sums(writer, {operand(0), operand(1), operand(2)}, operand(3));
  } else {
    sums = writer.sums(varianceTerm, "const Element* a", "0.0", {{"x", "a"}}, "0.0");
    sums.arguments = {operand(0), workspace(0)};
  }
  GeneratedLaunch settle =
      writer.settle("const f64* sums, f64* made", "  made[channel] = first;\n"
                                                  "  made[channels + channel] = second;\n");
  settle.arguments = {workspace(0), result(0)};
  return {{std::move(sums), std::move(settle)}, writer.sumBytes()};
}

GeneratedKernels batchNormGradientKernel(const ops::BatchNormGradient& op, OperandTypes operands,
                                         const GpuShape& gpu) {
  const Writer writer(operands[0], operands[1].element, op.axis, gpu);
  const int64_t factors = aligned(writer.sumBytes());
  const Cotangents cotangents(op.relu);
  GeneratedLaunch sums = cotangents.sums(writer, {operand(0), operand(2), operand(4)}, operand(5));
  GeneratedLaunch settle = writer.settle(
      "const Vector* scale, const Vector* variances, const f64* sums, f64* factors, "
      "Vector* ofScale, Vector* ofBias",
      "  const f64 n = f64(outer * inner);\n  const f64 root = 1 / sqrt(f64(valueOf(variances[channel])) + " +
          epsilonText(op.epsilon) +
          ");\n"
          "  const f64 factor = f64(valueOf(scale[channel])) * root;\n"
          "  factors[channel * 3] = factor;\n"
          "  factors[channel * 3 + 1] = factor * root * (second * root) / n;\n"
          "  factors[channel * 3 + 2] = factor * first / n;\n"
          "  ofScale[channel] = stored<Vector>(Real(second * root));\n"
          "  ofBias[channel] = stored<Vector>(Real(first));\n");
  settle.arguments = {operand(1), operand(3), workspace(0), workspace(factors), result(1), result(2)};
  GeneratedLaunch pass = writer.pass(
      cotangents.pass("const Element* a, const Vector* means, const Element* cotangent, const f64* factors",
                      "    mean[k] = Real(valueOf(means[channel]));\n"
                      "    ofG[k] = Real(factors[channel * 3]);\n"
                      "    ofA[k] = Real(factors[channel * 3 + 1]);\n"
                      "    rest[k] = Real(factors[channel * 3 + 2]);\n",
                      op.addend));
  pass.arguments = {operand(0), operand(2), operand(4), workspace(factors)};
  if (op.relu) {
    pass.arguments.push_back(operand(5));
  }
  pass.arguments.push_back(result(0));
  if (op.addend) {
    pass.arguments.push_back(result(3));
  }
  return {{std::move(sums), std::move(settle), std::move(pass)}, factors + writer.channelCount() * 3 * 8};
}

} // namespace dfc::cuda
