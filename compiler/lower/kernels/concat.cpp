// Concat and split: parts [outer, span], each copied into (or from) columns of a whole [outer, row]. Each
// block copies packs of one part; the blocks of up to `mostParts` parts are one launch.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/axis_view.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr size_t mostParts = 64;
constexpr int64_t concatThreads = 256;

constexpr std::string_view partText = R"(
// Copies a part, [count / span, span], $direction$ columns of the whole, [count / span, row]; block 0 is
// the first.
template <int width, Index span, Index count, int unroll>
DFC_INLINE void copyPart(const Element* from, Element* to, Index block) {
  constexpr Index packs = count / width, rest = count % width;
  const Index first = block * (threads * unroll) + threadIdx.x;
  Pack<Element, width> moved[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads;
    const Index i = pack * width;
    if (pack < packs) moved[u] = loadPack<width>(from + ($from$));
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const Index pack = first + u * threads, i = pack * width;
    if (pack < packs) storePack(to + ($to$), moved[u]);
  }
  if constexpr (rest != 0) { // one row only
    if (first < rest) to[packs * width + first] = from[packs * width + first];
  }
}
)";

constexpr std::string_view concatText = R"(
struct Shared {};
DFC_INLINE void run($parameters$Element* whole, const Block& blockOf, Shared&) {
  const Index block = blockOf.x;
$parts$}
)";

struct Part {
  uint32_t number = 0; ///< of the operand of a concat, or of the result of a split
  int64_t span = 0, base = 0, count = 0, width = 1, unroll = 1;
  int64_t blocks() const { return std::max<int64_t>(1, ceilDiv(count / width, concatThreads * unroll)); }
};

/// Parts of one tensor along an axis.
struct Partition {
  bool joins = true; ///< parts are copied into the whole; else from it
  TensorType whole;
  int64_t row = 1;
  llvm::SmallVector<Part, 8> parts;
};

Partition partitionOf(bool joins, int64_t writtenAxis, const TensorType& whole, OperandTypes types,
                      const GpuShape& gpu) {
  const size_t axis = *normalAxis(writtenAxis, whole.shape.rank());
  const AxisView view(whole.shape, writtenAxis);
  Partition all{joins, whole, view.length * view.inner, {}};
  const int64_t most = packBytes / byteWidth(whole.element);
  int64_t base = 0;
  for (uint32_t i = 0; i < types.size(); ++i) {
    const int64_t span = types[i].shape[axis] * view.inner, count = types[i].shape.elements();
    // A single row may end in a rest; several need each of them aligned.
    const int64_t width =
        view.outer == 1 ? commonPowerOf2(most, {base}) : commonPowerOf2(most, {base, span, all.row});
    const int64_t unroll = count / width >= gpu.residentThreads() ? 4 : 1;
    if (count > 0) {
      all.parts.push_back({i, span, base, count, count < width ? 1 : width, unroll});
    }
    base += span;
  }
  return all;
}

/// One part's call: `n` is its place among the parameters.
std::string callOf(const Partition& all, const Part& part, size_t n, int64_t firstBlock) {
  const IndexText index(all.whole.shape.elements());
  const std::string own = fmt::format("p{}", n), columns = fmt::format("whole + {}", index.of(part.base));
  return fmt::format("  {}if (block < {}) copyPart<{}, {}, {}, {}>({}, {}, block - {});\n",
                     n == 0 ? "" : "else ", index.of(firstBlock + part.blocks()), part.width,
                     index.of(part.span), index.of(part.count), part.unroll, all.joins ? own : columns,
                     all.joins ? columns : own, index.of(firstBlock));
}

GeneratedLaunch launchOf(const Partition& all, llvm::ArrayRef<Part> parts) {
  const Argument::From own = all.joins ? Argument::From::Operand : Argument::From::Result;
  const std::string dense = "i", columns = "i / span * row + i % span";
  const IndexText index(all.whole.shape.elements());
  GeneratedLaunch launch;
  std::string parameters, calls;
  int64_t blocks = 0;
  for (size_t n = 0; n < parts.size(); ++n) {
    parameters += fmt::format("{}Element* p{}, ", all.joins ? "const " : "", n);
    calls += callOf(all, parts[n], n, blocks);
    blocks += parts[n].blocks();
    launch.arguments.push_back({own, parts[n].number, 0});
  }
  launch.arguments.push_back({all.joins ? Argument::From::Result : Argument::From::Operand, 0, 0});
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\n", index.type(), bitsName(all.whole.element)) +
      constant("threads", concatThreads) + constant("Index", "row", index.of(all.row)) +
      filled(partText, {{"direction", all.joins ? "into" : "from"},
                        {"from", all.joins ? dense : columns},
                        {"to", all.joins ? columns : dense}}) +
      filled(concatText, {{"parameters", parameters + (all.joins ? "" : "const ")}, {"parts", calls}});
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.threads = static_cast<uint32_t>(concatThreads);
  launch.singlePass = true;
  return launch;
}

GeneratedKernels workOf(const Partition& all) {
  GeneratedKernels work;
  for (size_t first = 0; first < all.parts.size(); first += mostParts) {
    const size_t count = std::min(mostParts, all.parts.size() - first);
    work.launches.push_back(launchOf(all, llvm::ArrayRef<Part>(all.parts).slice(first, count)));
  }
  return work;
}

} // namespace

GeneratedKernels concatKernel(const ops::Concat& op, OperandTypes operands, const TensorType& result,
                              const GpuShape& gpu) {
  return workOf(partitionOf(true, op.axis, result, operands, gpu));
}

GeneratedKernels splitKernel(const ops::Split& op, const TensorType& operand, OperandTypes results,
                             const GpuShape& gpu) {
  return workOf(partitionOf(false, op.axis, operand, results, gpu));
}

} // namespace dfc::cuda
