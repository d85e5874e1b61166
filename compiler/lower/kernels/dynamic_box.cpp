// dynamicSlice and dynamicUpdateSlice: a box of a tensor, at start indices that an operand gives. The slice
// is a chain: its elements are found from their place in the result and the starts. The update has a kernel
// of its own: where the result is the buffer of the tensor it writes the update alone; else it copies all
// other elements, too.
#include "compiler/lower/kernels/families.h"
#include "ir/graph/rules/dynamic_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// Reads W neighbouring elements of the slice, contiguous in the operand, by one vector load.
constexpr std::string_view boxPackText = R"(  return loadPack<W>(from + $base$ + $offset$);
)";

// Reads them one by one, where they are not contiguous.
constexpr std::string_view boxElementText = R"(  Pack<$type$, W> pack;
  const Index base = $base$;
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Index j = i + k;
    pack.at[k] = from[base + $offset$];
  }
  return pack;
)";

constexpr std::string_view updateText = R"(
struct Shared {};
DFC_INLINE void run(const Element* from, const Element* update, const Start* starts, Element* to,
                    const Block& block, Shared&) {
  const Index first = Index(block.x) * threads + threadIdx.x;
$starts$  if (from != to) {
    for (Index pack = first; pack < wholePacks; pack += stride) {
      const Index i = pack * width;
      if (!($inside$)) storePack(to + i, loadPack<width>(from + i));
    }
  }
  for (Index pack = first; pack < updatePacks; pack += stride) {
    const Index i = pack * width;
    storePack(to + $base$ + $offset$, loadPack<width>(update + i));
  }
}
)";

// The start of an axis, clamped, as an expression; `starts`: a pointer's text.
std::string startText(const MovingAxis& axis, std::string_view starts, const IndexText& index) {
  return fmt::format("Index({0}[{1}] < 0 ? 0ll : i64({0}[{1}]) > {2}ll ? {2}ll : i64({0}[{1}])) * {3}",
                     starts, axis.start, axis.most, index.of(axis.stride));
}

// Where the box begins, as an expression.
std::string baseText(llvm::ArrayRef<MovingAxis> axes, std::string_view starts, const IndexText& index) {
  std::string text = "(" + index.of(0);
  for (const MovingAxis& axis : axes) {
    text += " + " + startText(axis, starts, index);
  }
  return text + ")";
}

// The slice as an access: its extents, with the row-major strides of the operand.
Access boxAccess(const Shape& whole, const Shape& box) {
  llvm::SmallVector<Access::Axis, 8> axes(box.rank());
  int64_t stride = 1;
  for (size_t d = box.rank(); d-- > 0; stride *= whole[d]) {
    axes[d] = {box[d], stride};
  }
  return Access(axes);
}

class UpdateWriter {
 public:
  UpdateWriter(const ops::DynamicUpdateSlice& op, OperandTypes operands, const GpuShape& gpu)
      : whole_(operands[0]), box_(operands[1].shape), starts_(operands[2]),
        axes_(movingAxes(whole_.shape, box_, op.axes)), width_(widthOf(whole_, box_)),
        wholePacks_(whole_.shape.elements() / width_), updatePacks_(box_.elements() / width_),
        blocks_(std::min(ceilDiv(wholePacks_, threads),
                         std::max(ceilDiv(updatePacks_, threads), gpu.multiprocessors))),
        index_(whole_.shape.elements() + blocks_ * threads * width_) {}

  GeneratedKernels work() const {
    GeneratedLaunch launch;
    launch.code =
        constants() + filled(updateText, {{"starts", startsText()},
                                          {"inside", insideText()},
                                          {"base", "base"},
                                          {"offset", boxAccess(whole_.shape, box_).offset("i", index_)}});
    launch.grid[0] = static_cast<uint32_t>(blocks_);
    launch.threads = static_cast<uint32_t>(threads);
    launch.arguments = {{Argument::From::Operand, 0, 0},
                        {Argument::From::Operand, 1, 0},
                        {Argument::From::Operand, 2, 0},
                        {Argument::From::Result, 0, 0}};
    return {{std::move(launch)}, 0};
  }

  static int64_t widthOf(const TensorType& whole, const Shape& box) {
    return commonPowerOf2(packBytes / byteWidth(whole.element), {contiguousElements(whole.shape, box)});
  }

 private:
  static constexpr int64_t threads = 256;

  std::string constants() const {
    return fmt::format("using Index = {};\nusing Element = {};\nusing Start = {};\n", index_.type(),
                       bitsName(whole_.element), storageName(starts_.element)) +
           constant("width", width_) + constant("threads", threads) +
           constant("Index", "wholePacks", index_.of(wholePacks_)) +
           constant("Index", "updatePacks", index_.of(updatePacks_)) +
           constant("Index", "stride", index_.of(blocks_ * threads));
  }

  // start0, …: of each axis that moves, in elements of the axis; base: of the box.
  std::string startsText() const {
    std::string text, base = index_.of(0);
    for (size_t i = 0; i < axes_.size(); ++i) {
      MovingAxis axis = axes_[i];
      axis.stride = 1;
      text += fmt::format("  const Index start{} = {};\n", i, startText(axis, "starts", index_));
      base += fmt::format(" + start{} * {}", i, index_.of(axes_[i].stride));
    }
    return text + fmt::format("  const Index base = {};\n", base);
  }

  // The condition that flat index i of the operand lies in the slice. Unsigned arithmetic: an index below a
  // start wraps to a number above any extent.
  std::string insideText() const {
    std::string text = "true";
    for (size_t n = 0; n < axes_.size(); ++n) {
      const MovingAxis& axis = axes_[n];
      text += fmt::format(" && i / {} % {} - start{} < {}", index_.of(axis.stride), index_.of(axis.length), n,
                          index_.of(axis.size()));
    }
    return text;
  }

  const TensorType& whole_;
  const Shape& box_;
  const TensorType& starts_;
  llvm::SmallVector<MovingAxis, 4> axes_;
  int64_t width_, wholePacks_, updatePacks_, blocks_;
  IndexText index_;
};

} // namespace

GeneratedKernels dynamicSliceKernel(const ops::DynamicSlice& op, OperandTypes operands,
                                    const TensorType& result, const GpuShape& gpu) {
  const Shape &whole = operands[0].shape, &box = result.shape;
  Chain chain = movedChain(operands[0], result, Access::broadcast(whole, whole));
  chain.sources.push_back(pointerTo(operands[1], 1));
  chain.sources[0].streamed = true;
  chain.sources[0].flat = false;
  chain.sources[0].beside = 1;
  chain.sources[0].reader = [=, type = std::string(bitsName(result.element)),
                             axes = movingAxes(whole, box, op.axes)](int64_t width, const IndexText& index) {
    const bool packs = contiguousElements(whole, box) % width == 0;
    return filled(packs ? boxPackText : boxElementText,
                  {{"type", type},
                   {"base", baseText(axes, "beside", index)},
                   {"offset", boxAccess(whole, box).offset(packs ? "i" : "j", index)}});
  };
  return streamedChain(chain, gpu);
}

GeneratedKernels dynamicUpdateSliceKernel(const ops::DynamicUpdateSlice& op, OperandTypes operands,
                                          const GpuShape& gpu) {
  const TensorType& type = operands[0];
  if (operands[1].shape.elements() == 0) { // nothing is written over
    return streamedChain(movedChain(type, type, Access::broadcast(type.shape, type.shape)), gpu);
  }
  return UpdateWriter(op, operands, gpu).work();
}

} // namespace dfc::cuda
