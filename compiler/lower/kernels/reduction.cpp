// Reductions and argMax, of a tensor, of a fused chain, or of the result of a launch that is fused with the
// reduction. ReductionPlan has three assignments of elements to threads, each with the same result on every
// run: lanes and blocks merge in an order fixed by the shape. If results are cut into parts, the first launch
// leaves carries in the workspace, [part][result], and a second one merges them.
#include "compiler/lower/kernels/reduction_plan.h"
#include "ir/graph/rules/op_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view reduceSpanText = R"(
DFC_INLINE Index keptOffset(Index out) { (void)out; return $kept$; }
DFC_INLINE Index reducedOffset(Position r) { (void)r; return $reduced$; }

// The elements from number i on, written down where they are kept.
template <int W>
DFC_INLINE Pack<Element, W> made(const Operands& from, const Inputs<W>& in, Index i) {
  (void)from, (void)i;
  const Pack<Element, W> x = applied(in);
  $keep$return x;
}

// Reduces packs begin, begin + step, … below `end` into one carry for each element of a pack. `along` is the
// distance of a pack's elements along the reduced axes: 1 in rows, 0 in columns.
template <int along>
DFC_INLINE void reduceSpan(Carry (&carry)[width], const Operands& from, Index base, Position begin,
                            Position end, Position step) {
#pragma unroll
  for (int k = 0; k < width; ++k) carry[k] = start();
  Position r = begin;
  for (; r + (unroll - 1) * step < end; r += unroll * step) {
    Inputs<width> in[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) in[u] = gather<width>(from, base + reducedOffset(r + u * step));
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const Pack<Element, width> x = made(from, in[u], base + reducedOffset(r + u * step));
#pragma unroll
      for (int k = 0; k < width; ++k) accumulate(carry[k], valueOf(x.at[k]), r + u * step + k * along);
    }
  }
  for (; r < end; r += step) {
    const Index i = base + reducedOffset(r);
    const Pack<Element, width> x = made(from, gather<width>(from, i), i);
#pragma unroll
    for (int k = 0; k < width; ++k) accumulate(carry[k], valueOf(x.at[k]), r + k * along);
  }
}
)";

// `lanes` threads of a warp for each result.
constexpr std::string_view lanesText = R"(
struct Shared {};
template <class After>
DFC_INLINE void run($parameters$Result* to, const Block& block, Shared&, const After& after) {
  const Operands from{$pointers$};
  const Index out = Index(block.x) * (threads / lanes) + threadIdx.x / lanes;
  Carry carry[width];
  reduceSpan<1>(carry, from, out < outputs ? keptOffset(out) : 0, threadIdx.x % lanes * width,
                 out < outputs ? length : 0, lanes * width);
#pragma unroll
  for (int k = 1; k < width; ++k) merge(carry[0], carry[k]);
#pragma unroll
  for (int lane = lanes / 2; lane > 0; lane /= 2) merge(carry[0], shuffled(carry[0], lane));
  if (out < outputs && threadIdx.x % lanes == 0) {
    to[out] = finish(carry[0]);
    after(out);
  }
}
)";

// A block for each part (y) of each result (x).
constexpr std::string_view blockText = R"(
struct Shared { Carry ofWarps[32]; };
$template$DFC_INLINE void run($parameters$$Written$* to, const Block& block, Shared& shared$follower$) {
  const Operands from{$pointers$};
  const Index out = block.x;
  const Position begin = Position(block.y) * chunk, end = begin + chunk < length ? begin + chunk : length;
  Carry carry[width];
  reduceSpan<1>(carry, from, keptOffset(out), begin + threadIdx.x * width, end, threads * width);
#pragma unroll
  for (int k = 1; k < width; ++k) merge(carry[0], carry[k]);
  const Carry whole = mergedBlock<threads>(carry[0], shared.ofWarps);
  if (threadIdx.x == 0) {
    to[block.y * Index(outputs) + out] = $written$(whole);
    $after$
  }
}
)";

// `lanes` rows of threads for `columns` packs of neighbouring results; y counts parts.
constexpr std::string_view columnsText = R"(
struct Shared { Carry ofLanes[lanes][columns * width]; };
$template$DFC_INLINE void run($parameters$$Written$* to, const Block& block, Shared& shared$follower$) {
  auto& ofLanes = shared.ofLanes;
  const Operands from{$pointers$};
  const int column = threadIdx.x % columns, lane = threadIdx.x / columns;
  const Index out = (Index(block.x) * columns + column) * width;
  const Position begin = Position(block.y) * chunk, end = begin + chunk < length ? begin + chunk : length;
  Carry carry[width];
  reduceSpan<0>(carry, from, out < outputs ? keptOffset(out) : 0, begin + lane, out < outputs ? end : 0, lanes);
#pragma unroll
  for (int half = lanes / 2; half > 0; half /= 2) {
    if (lane >= half && lane < 2 * half) {
#pragma unroll
      for (int k = 0; k < width; ++k) ofLanes[lane][k * columns + column] = carry[k];
    }
    __syncthreads();
    if (lane < half) {
#pragma unroll
      for (int k = 0; k < width; ++k) merge(carry[k], ofLanes[lane + half][k * columns + column]);
    }
  }
  if (lane == 0 && out < outputs) {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      to[block.y * Index(outputs) + out + k] = $written$(carry[k]);
      $after$
    }
  }
}
)";

// Merges the parts of each result.
constexpr std::string_view mergeText = R"(
struct Shared { Carry ofLanes[lanes][columns]; };
template <class After>
DFC_INLINE void run(const Carry* from, Result* to, const Block& block, Shared& shared, const After& after) {
  auto& ofLanes = shared.ofLanes;
  const int column = threadIdx.x % columns, lane = threadIdx.x / columns;
  const Index out = Index(block.x) * columns + column;
  Carry carry = start();
  if (out < outputs) {
#pragma unroll 4
    for (u32 part = lane; part < parts; part += lanes) merge(carry, from[part * outputs + out]);
  }
#pragma unroll
  for (int half = lanes / 2; half > 0; half /= 2) {
    if (lane >= half && lane < 2 * half) ofLanes[lane][column] = carry;
    __syncthreads();
    if (lane < half) merge(carry, ofLanes[lane + half][column]);
  }
  if (lane == 0 && out < outputs) {
    to[out] = finish(carry);
    after(out);
  }
}
)";

class ReductionWriter {
 public:
  ReductionWriter(const Chain& chain, const ReductionRecipe& recipe)
      : chain_(chain), element_(recipe.element), layout_(recipe.shape, recipe.axes), index_(chain.index()),
        carry_(carryBytes(recipe.kind, recipe.element, layout_.length)),
        plan_(planReduction(layout_, chain.fullWidth(), carry_, recipe.gpu)),
        resultBytes_(recipe.kind == ReductionKind::ArgMax ? 8 : byteWidth(recipe.element)),
        carryText_(reductionText(recipe.kind, recipe.element, layout_.length,
                                 recipe.meanOf != 0 ? recipe.meanOf : layout_.length)) {}

  GeneratedKernels work() const {
    GeneratedKernels work;
    work.launches.push_back(first());
    if (plan_.parts > 1) {
      work.launches.push_back(second());
      work.workspaceBytes = plan_.parts * layout_.outputs * carry_;
    }
    return work;
  }

  /// Whether threads that make elements write them as a launch of their own would: in full packs, of which
  /// neighbours fill a cache line of 128 bytes.
  bool writesInLines() const {
    const int64_t bytes = byteWidth(element_);
    const bool outermost = layout_.innerExtent == layout_.outputs; // then rows follow one another
    const bool lines = plan_.byRows ? plan_.lanes * plan_.width * bytes >= 128
                                    : outermost || layout_.innerExtent * bytes >= 128;
    return plan_.width == chain_.fullWidth() && lines;
  }

  GeneratedLaunch first() const {
    const bool whole = plan_.parts == 1;
    GeneratedLaunch launch;
    launch.code = chain_.text(plan_.width) + carryText_ + (wholeBlock() ? blockReductionText() : "") +
                  counts() + (plan_.byRows ? "" : constant("columns", plan_.columns)) + partCounts() +
                  loop() +
                  filled(kernel(), {{"parameters", chain_.parameters()},
                                    {"pointers", chain_.pointers()},
                                    {"Written", whole ? "Result" : "Carry"},
                                    {"written", whole ? "finish" : "Carry"},
                                    {"template", whole ? "template <class After>\n" : ""},
                                    {"follower", whole ? ", const After& after" : ""},
                                    {"after", !whole         ? ""
                                              : plan_.byRows ? "after(out);"
                                                             : "after(out + k);"}});
    const int64_t results = plan_.byRows ? plan_.threads / plan_.lanes : plan_.columns * plan_.width;
    launch.grid = {static_cast<uint32_t>(ceilDiv(layout_.outputs, results)),
                   static_cast<uint32_t>(plan_.parts)};
    launch.threads = static_cast<uint32_t>(plan_.threads);
    launch.barriers = wholeBlock() || !plan_.byRows;
    launch.sharedBytes = sharedBytes();
    launch.arguments = chain_.arguments();
    for (Argument& argument : launch.arguments) { // many elements make one of the result
      argument.stride = 0;
    }
    if (whole) {
      launch.arguments.push_back(resultArgument());
      launch.elements = layout_.outputs;
    } else {
      launch.arguments.push_back({Argument::From::Workspace, 0, 0});
    }
    return launch;
  }

 private:
  bool wholeBlock() const { return plan_.byRows && plan_.lanes > 32; }
  std::string_view kernel() const {
    return wholeBlock() ? blockText : plan_.byRows ? lanesText : columnsText;
  }
  std::string counts() const {
    return constant("Index", "outputs", index_.of(layout_.outputs)) +
           (wholeBlock() ? "" : constant("lanes", plan_.lanes));
  }
  std::string partCounts() const {
    return plan_.byRows && !wholeBlock() ? "" : constant("Position", "chunk", index_.of(plan_.chunk));
  }
  std::string loop() const {
    return constant("width", plan_.width) + constant("unroll", plan_.unroll) +
           (plan_.byRows ? constant("threads", plan_.threads) : "") +
           constant("Position", "length", index_.of(layout_.length)) +
           filled(reduceSpanText, {{"kept", layout_.kept.offset("out", index_)},
                                   {"reduced", layout_.reduced.offset("r", index_)},
                                   {"keep", chain_.kept ? "storePack(from.kept + i, x);\n  " : ""}});
  }

  Argument resultArgument() const {
    return {Argument::From::Result, 0, 0, static_cast<uint8_t>(resultBytes_)};
  }

  uint32_t sharedBytes() const {
    const int64_t inLanes = plan_.byRows ? 0 : plan_.lanes * plan_.columns * plan_.width;
    return static_cast<uint32_t>((wholeBlock() ? 32 : inLanes) * carry_);
  }

  GeneratedLaunch second() const {
    const int64_t columns = std::min<int64_t>(32, powerOf2From(layout_.outputs));
    const int64_t lanes = std::min<int64_t>(256 / columns, powerOf2From(ceilDiv(plan_.parts, 2)));
    GeneratedLaunch launch;
    launch.code = fmt::format("using Index = {};\n", index_.type()) + carryText_ +
                  constant("Index", "outputs", index_.of(layout_.outputs)) + constant("columns", columns) +
                  constant("lanes", lanes) + constant("u32", "parts", fmt::format("{}u", plan_.parts)) +
                  std::string(mergeText);
    launch.grid[0] = static_cast<uint32_t>(ceilDiv(layout_.outputs, columns));
    launch.threads = static_cast<uint32_t>(columns * lanes);
    launch.barriers = true;
    launch.sharedBytes = static_cast<uint32_t>(columns * lanes * carry_);
    launch.arguments = {{Argument::From::Workspace, 0, 0}, resultArgument()};
    launch.elements = layout_.outputs;
    return launch;
  }

  const Chain& chain_;
  ElementType element_;
  ReductionLayout layout_;
  IndexText index_;
  int64_t carry_;
  ReductionPlan plan_;
  int64_t resultBytes_;
  std::string carryText_;
};

bool isOperandItself(const Chain& chain) {
  return chain.sources.size() == 1 && chain.sources[0].flat && chain.body.empty();
}

} // namespace

GeneratedKernels reducedChain(const Chain& chain, ElementType element, ReductionKind kind, const Shape& shape,
                              llvm::ArrayRef<int64_t> axes, const GpuShape& gpu, int64_t meanOf) {
  if (shape.elements() == 0) { // an empty sum or product
    const std::string value =
        fmt::format("{}({})", bitsName(element), bitsText(element, kind == ReductionKind::Product ? 1 : 0));
    return streamedChain(constantChain(reducedShape(shape, axes, false).elements(), element, value), gpu);
  }
  const ReductionRecipe recipe{element, kind, shape, {axes.begin(), axes.end()}, gpu, meanOf};
  GeneratedKernels work = ReductionWriter(chain, recipe).work();
  if (isOperandItself(chain)) {
    work.launches[0].reduction = std::make_shared<const ReductionRecipe>(recipe);
  }
  return work;
}

std::optional<GeneratedLaunch> fusedWithReduction(const GeneratedLaunch& producer,
                                                  const GeneratedLaunch& reduction) {
  if (producer.chain == nullptr || reduction.reduction == nullptr) {
    return std::nullopt;
  }
  const ReductionRecipe& recipe = *reduction.reduction;
  Chain chain = *producer.chain;
  chain.kept = true;
  const bool same = chain.count == recipe.shape.elements() && chain.element == storageName(recipe.element) &&
                    chain.fullWidth() == identityChain({recipe.element, recipe.shape}).fullWidth();
  if (!same) {
    return std::nullopt;
  }
  const ReductionWriter writer(chain, recipe);
  return writer.writesInLines() ? std::optional(writer.first()) : std::nullopt;
}

} // namespace dfc::cuda
