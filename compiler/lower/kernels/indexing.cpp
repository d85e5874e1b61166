// gather, oneHot and iota. The first two are chains: what a result element is made of is found from its
// place, through the indices. An index below 0 counts from the end; one out of range gives NaN or 0, or no
// one.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/axis_view.h"

#include <fmt/format.h>

#include <limits>

namespace dfc::cuda {
namespace {

// A pack lies in one slice.
constexpr std::string_view sliceText = R"(  const Index slice = i / $inner$;
  const i64 index = beside[slice % $count$];
  const u64 place = u64(index < 0 ? index + $whole$ll : index)$shift$;
  if (place >= $length$ull) return splatPack<W>($type$($nothing$));
  return loadPack<W>(from + (slice / $count$ * $length$ + Index(place)) * $inner$ + i % $inner$);
)";

// Every element by itself.
constexpr std::string_view elementText = R"(  Pack<$type$, W> pack;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Index j = i + k, slice = j / $inner$;
    const i64 index = beside[slice % $count$];
    const u64 place = u64(index < 0 ? index + $whole$ll : index)$shift$;
    pack.at[k] = place < $length$ull ? from[(slice / $count$ * $length$ + Index(place)) * $inner$ + j % $inner$]
                                     : $type$($nothing$);
  }
  return pack;
)";

// Ones of an axis that is the last, of a length that packs divide: one index for a pack.
constexpr std::string_view onesOfRowText = R"(  Pack<$type$, W> pack;
  const i64 index = from[i / $depth$];
  const u64 place = u64(index < 0 ? index + $whole$ll : index)$shift$ - i % $depth$;
#pragma unroll
  for (int k = 0; k < W; ++k) pack.at[k] = place == u64(k);
  return pack;
)";

constexpr std::string_view onesText = R"(  Pack<$type$, W> pack;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Index j = i + k, slice = j / $inner$;
    const i64 index = from[slice / $depth$ * $inner$ + j % $inner$];
    pack.at[k] = u64(index < 0 ? index + $whole$ll : index)$shift$ == u64(slice % $depth$);
  }
  return pack;
)";

constexpr std::string_view iotaText = R"(
struct Shared {};
DFC_INLINE void run(Element* to, const Block& block, Shared&) {
  const Index first = (Index(block.x) * threads + threadIdx.x) * width;
  Pack<Element, width> pack;
#pragma unroll
  for (int k = 0; k < width; ++k) {
    const i64 place = i64((first + k) / inner % length)$start$;
    pack.at[k] = stored<Element>(castTo<Element>(place));
  }
  if (first + width <= count) {
    storePack(to + first, pack);
  } else {
#pragma unroll
    for (int k = 0; k < width; ++k) {
      if (first + k < count) to[first + k] = pack.at[k];
    }
  }
}
)";

} // namespace

std::string shiftText(const AxisPart& part) {
  return part.start == 0 ? "" : fmt::format(" - {}ull", part.start);
}

GeneratedKernels gatherKernel(const ops::Gather& op, OperandTypes operands, const TensorType& result,
                              const GpuShape& gpu) {
  const AxisView view(operands[0].shape, op.axis);
  const std::string type(bitsName(result.element));
  const double nothing = isFloat(result.element) ? std::numeric_limits<double>::quiet_NaN() : 0;
  if (view.length == 0) { // every index is out of range
    const std::string value = fmt::format("{}({})", type, bitsText(result.element, nothing));
    return streamedChain(constantChain(result.shape.elements(), result.element, value), gpu);
  }
  const int64_t whole = op.part.lengthOf(view.length);
  std::string otherwise = bitsText(result.element, nothing);
  if (op.part.isPart()) { // another part's elements are 0 here
    otherwise = fmt::format("place + {}ull < {}ull ? {} : {}", op.part.start, whole,
                            bitsText(result.element, 0), otherwise);
  }
  Chain chain = movedChain(operands[0], result, Access::broadcast(operands[0].shape, operands[0].shape));
  chain.sources.push_back(pointerTo(operands[1], 1));
  chain.sources[0].streamed = true;
  chain.sources[0].flat = false;
  chain.sources[0].beside = 1;
  chain.sources[0].reader = [=](int64_t width, const IndexText& index) {
    return filled(view.inner % width == 0 ? sliceText : elementText,
                  {{"type", type},
                   {"inner", index.of(view.inner)},
                   {"count", index.of(operands[1].shape.elements())},
                   {"length", fmt::format("{}", view.length)},
                   {"whole", fmt::format("{}", whole)},
                   {"shift", shiftText(op.part)},
                   {"nothing", otherwise}});
  };
  return streamedChain(chain, gpu);
}

GeneratedKernels oneHotKernel(const ops::OneHot& op, const TensorType& indices, const TensorType& result,
                              const GpuShape& gpu) {
  const AxisView view(result.shape, op.axis);
  Chain chain{result.shape.elements(),
              std::string(bitsName(op.to)),
              byteWidth(op.to),
              {sourceOf(indices, Access::broadcast(indices.shape, indices.shape), 0)},
              fmt::format("  return {0}(r0 != 0 ? {1} : {2});\n", bitsName(op.to), bitsText(op.to, 1),
                          bitsText(op.to, 0))};
  chain.sources[0].streamed = false;
  chain.sources[0].flat = false;
  chain.sources[0].reader = [=](int64_t width, const IndexText& index) {
    const bool byRows = view.inner == 1 && op.depth % width == 0;
    return filled(byRows ? onesOfRowText : onesText,
                  {{"type", std::string(storageName(indices.element))},
                   {"depth", fmt::format("{}", op.depth)},
                   {"whole", fmt::format("{}", op.part.lengthOf(op.depth))},
                   {"shift", shiftText(op.part)},
                   {"inner", index.of(view.inner)}});
  };
  return streamedChain(chain, gpu);
}

GeneratedKernels iotaKernel(const ops::Iota& op, const GpuShape& gpu) {
  const AxisView view(op.type.shape, op.axis);
  const int64_t count = op.type.shape.elements(), width = packBytes / byteWidth(op.type.element);
  const int64_t threads = ceilDiv(count, width) < gpu.multiprocessors * 256 ? 64 : 256;
  const IndexText index(count + threads * width);
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\n", index.type(), storageName(op.type.element)) +
      constant("width", width) + constant("threads", threads) + constant("Index", "count", index.of(count)) +
      constant("Index", "inner", index.of(view.inner)) + constant("Index", "length", index.of(view.length)) +
      filled(iotaText, {{"start", op.start == 0 ? "" : fmt::format(" + {}ll", op.start)}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(ceilDiv(count, width), threads));
  launch.threads = static_cast<uint32_t>(threads);
  launch.singlePass = true;
  launch.arguments = {{Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
