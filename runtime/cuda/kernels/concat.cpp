// Concat: seen as [outer, stretch] per operand, copied into columns of a result [outer, row]. Each block
// copies packs of one operand; the blocks of up to `mostParts` operands are one launch.
#include "ir/op_rules.h"
#include "runtime/cuda/kernels/families.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr size_t mostParts = 64;
constexpr int64_t threads = 256;

constexpr std::string_view partText = R"(
// Copies [count / stretch, stretch] into the columns of `to`, [count / stretch, row]; block 0 is the first.
template <int width, Index stretch, Index count, int unroll>
DFC_INLINE void copyPart(const Element* from, Element* to, Index block) {
  constexpr Index packs = count / width, rest = count % width;
  const Index first = block * (threads * unroll) + threadIdx.x;
  Pack<Element, width> moved[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads;
    if (pack < packs) moved[u] = loadPack<width>(from + pack * width);
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads, i = pack * width;
    if (pack < packs) storePack(to + (i / stretch * row + i % stretch), moved[u]);
  }
  if constexpr (rest != 0) { // one row only
    if (first < rest) to[packs * width + first] = from[packs * width + first];
  }
}
)";

constexpr std::string_view kernelText = R"(
struct Shared {};
DFC_INLINE void run($parameters$Element* to, const Block& blockOf, Shared&) {
  const Index block = blockOf.x;
$parts$}
)";

struct Part {
  uint32_t operand = 0;
  int64_t stretch = 0, base = 0, count = 0, width = 1, unroll = 1;
  int64_t blocks() const { return std::max<int64_t>(1, ceilDiv(count / width, threads * unroll)); }
};

struct Concatenation {
  int64_t outer = 1, row = 1, bytes = 1;
  llvm::SmallVector<Part, 8> parts;
};

Concatenation partsOf(size_t axis, OperandTypes operands, const TensorType& result) {
  int64_t outer = 1, inner = 1;
  for (size_t d = 0; d < result.shape.rank(); ++d) {
    (d < axis ? outer : inner) *= d == axis ? 1 : result.shape[d];
  }
  Concatenation all{outer, inner * result.shape[axis], byteWidth(result.element), {}};
  int64_t base = 0;
  for (uint32_t i = 0; i < operands.size(); ++i) {
    const int64_t stretch = inner * operands[i].shape[axis], count = operands[i].shape.elements();
    // A single row may end in a rest; several need each of them aligned.
    const int64_t width = outer == 1 ? commonPowerOf2(packBytes / all.bytes, {base})
                                     : commonPowerOf2(packBytes / all.bytes, {base, stretch, all.row});
    const int64_t unroll = count / width >= residentThreads ? 4 : 1;
    if (count > 0) {
      all.parts.push_back({i, stretch, base, count, count < width ? 1 : width, unroll});
    }
    base += stretch;
  }
  return all;
}

GeneratedLaunch launchOf(const Concatenation& all, llvm::ArrayRef<Part> parts, const TensorType& result) {
  const IndexText index(result.shape.elements());
  GeneratedLaunch launch;
  std::string parameters, calls;
  int64_t blocks = 0;
  for (size_t n = 0; n < parts.size(); ++n) {
    const Part& part = parts[n];
    parameters += fmt::format("const Element* p{}, ", n);
    calls += fmt::format("  {}if (block < {}) copyPart<{}, {}, {}, {}>(p{}, to + {}, block - {});\n",
                         n == 0 ? "" : "else ", index.of(blocks + part.blocks()), part.width,
                         index.of(part.stretch), index.of(part.count), part.unroll, n, index.of(part.base),
                         index.of(blocks));
    blocks += part.blocks();
    launch.arguments.push_back({Argument::From::Operand, part.operand, 0});
  }
  launch.arguments.push_back({Argument::From::Result, 0, 0});
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\n", index.type(), bitsName(result.element)) +
      constant("threads", threads) + constant("Index", "row", index.of(all.row)) + std::string(partText) +
      filled(kernelText, {{"parameters", parameters}, {"parts", calls}});
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.threads = static_cast<uint32_t>(threads);
  launch.streamed = true;
  return launch;
}

} // namespace

GeneratedWork concatKernel(const ops::Concat& op, OperandTypes operands, const TensorType& result) {
  const Concatenation all = partsOf(*normalAxis(op.axis, result.shape.rank()), operands, result);
  GeneratedWork work;
  for (size_t first = 0; first < all.parts.size(); first += mostParts) {
    const size_t count = std::min(mostParts, all.parts.size() - first);
    work.launches.push_back(launchOf(all, llvm::ArrayRef<Part>(all.parts).slice(first, count), result));
  }
  return work;
}

} // namespace dfc::cuda
