// Movement that is a gather over the result: broadcast, slice, tile, pad and trilu. Elements move as bits, so
// no NaN changes. Pad reads where a result element comes from inside the operand, and takes the value
// elsewhere.
#include "compiler/lower/kernels/families.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// One axis of a pad: result index low + k * step, for k < extent, is element k of the operand.
struct PadAxis {
  int64_t result = 1, low = 0, step = 1, extent = 1;
  bool untouched() const { return result == extent; } // then low is 0 and step does not matter
};

// Axes outermost first; an untouched axis is walked as one with the axis outside it, where that keeps its
// step.
llvm::SmallVector<PadAxis, 8> padAxes(const ops::Pad& op, const Shape& operand, const Shape& result) {
  llvm::SmallVector<PadAxis, 8> axes;
  for (size_t d = 0; d < result.rank(); ++d) {
    const int64_t step = op.interior.empty() || operand[d] <= 1 ? 1 : op.interior[d] + 1;
    const PadAxis axis{result[d], op.low[d], step, operand[d]};
    if (axis.untouched() && !axes.empty() && axes.back().step == 1) {
      PadAxis& outer = axes.back();
      outer = {outer.result * axis.result, outer.low * axis.result, 1, outer.extent * axis.result};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

// Statements that find the source of result element j: `inside` and the offset `at`.
std::string padIndex(llvm::ArrayRef<PadAxis> axes, const IndexText& index) {
  std::string text = "    bool inside = true;\n    Index at = 0;\n";
  int64_t inner = 1;
  llvm::SmallVector<int64_t, 8> below(axes.size()), strides(axes.size());
  int64_t stride = 1;
  for (size_t d = axes.size(); d-- > 0; inner *= axes[d].result, stride *= axes[d].extent) {
    below[d] = inner;
    strides[d] = stride;
  }
  for (size_t d = 0; d < axes.size(); ++d) {
    const PadAxis& axis = axes[d];
    std::string digit = "j";
    digit += below[d] == 1 ? "" : fmt::format(" / {}", index.of(below[d]));
    digit += d == 0 ? "" : fmt::format(" % {}", index.of(axis.result));
    // Below `low` the difference wraps to a number beyond any extent.
    text += fmt::format("    const Index d{} = {} - {};\n", d, digit, index.of(axis.low));
    const std::string place =
        axis.step == 1 ? fmt::format("d{}", d) : fmt::format("d{} / {}", d, index.of(axis.step));
    text += fmt::format("    inside = inside && {} < {}{};\n", place, index.of(axis.extent),
                        axis.step == 1 ? "" : fmt::format(" && d{} % {} == 0", d, index.of(axis.step)));
    text += fmt::format("    at += ({}) * {};\n", place, index.of(strides[d]));
  }
  return text;
}

constexpr std::string_view packedPad = R"(  Pack<$type$, W> pack = splatPack<W>($type$($value$));
  {
    const Index j = i;
$index$    if (inside) pack = loadPack<W>(from + at);
  }
  return pack;
)";

constexpr std::string_view elementPad = R"(  Pack<$type$, W> pack = splatPack<W>($type$($value$));
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Index j = i + k;
$index$    if (inside) pack.at[k] = from[at];
  }
  return pack;
)";

// Where packs do not cross rows, one row is found for a whole pack.
constexpr std::string_view triluText = R"(  Pack<$type$, W> pack = loadPack<W>(from + i);
#pragma unroll
  for (int k = 0; k < W; ++k) {
    const Index j = i + k;
    const i64 row = i64($row$ / $columns$ % $rows$), column = i64(j % $columns$);
    if (!(column - row $keeps$)) pack.at[k] = 0;
  }
  return pack;
)";

// Whether a pack of `width` elements is either inside or outside as a whole, and aligned in the operand.
bool packsWhole(llvm::ArrayRef<PadAxis> axes, int64_t width) {
  const PadAxis& inner = axes.back();
  return inner.step == 1 && commonPowerOf2(width, {inner.result, inner.low, inner.extent}) == width;
}

} // namespace

GeneratedKernels broadcastKernel(const TensorType& operand, const TensorType& result, const GpuShape& gpu) {
  return streamedChain(movedChain(operand, result, Access::broadcast(operand.shape, result.shape)), gpu);
}

GeneratedKernels sliceKernel(const ops::Slice& op, const TensorType& operand, const TensorType& result,
                             const GpuShape& gpu) {
  llvm::SmallVector<Access::Axis, 8> axes(result.shape.rank());
  int64_t base = 0, stride = 1;
  for (size_t d = result.shape.rank(); d-- > 0; stride *= operand.shape[d]) {
    axes[d] = {result.shape[d], stride * (op.strides.empty() ? 1 : op.strides[d])};
    base += stride * op.starts[d];
  }
  return streamedChain(movedChain(operand, result, Access(axes, base)), gpu);
}

// Each axis twice: once for the copies, which all read the same, and once for what is copied.
GeneratedKernels tileKernel(const ops::Tile& op, const TensorType& operand, const TensorType& result,
                            const GpuShape& gpu) {
  const size_t rank = operand.shape.rank();
  llvm::SmallVector<Access::Axis, 16> axes(2 * rank);
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0; stride *= operand.shape[d]) {
    axes[2 * d] = {op.repeats[d], 0};
    axes[2 * d + 1] = {operand.shape[d], stride};
  }
  return streamedChain(movedChain(operand, result, Access(axes)), gpu);
}

GeneratedKernels triluKernel(const ops::Trilu& op, const TensorType& type, const GpuShape& gpu) {
  const int64_t rows = type.shape[type.shape.rank() - 2], columns = type.shape[type.shape.rank() - 1];
  const int64_t diagonal = std::clamp(op.k, -rows - 1, columns + 1); // beyond that nothing changes
  Chain chain = movedChain(type, type, Access::broadcast(type.shape, type.shape));
  chain.sources[0].streamed = true; // a scalar matrix is one element too
  chain.sources[0].reader = [=](int64_t width, const IndexText& index) {
    return filled(triluText, {{"type", std::string(bitsName(type.element))},
                              {"row", columns % width == 0 ? "i" : "j"},
                              {"rows", index.of(rows)},
                              {"columns", index.of(columns)},
                              {"keeps", fmt::format("{} {}ll", op.upper ? ">=" : "<=", diagonal)}});
  };
  return streamedChain(chain, gpu);
}

GeneratedKernels padKernel(const ops::Pad& op, const TensorType& operand, const TensorType& result,
                           const GpuShape& gpu) {
  const std::string type(bitsName(operand.element)), value = bitsText(operand.element, op.value);
  if (operand.shape.elements() == 0) {
    return streamedChain(
        constantChain(result.shape.elements(), operand.element, fmt::format("{}({})", type, value)), gpu);
  }
  const auto axes = padAxes(op, operand.shape, result.shape);
  if (axes.empty()) { // a scalar
    return broadcastKernel(operand, result, gpu);
  }
  Chain chain = movedChain(operand, result, Access::broadcast(operand.shape, operand.shape));
  chain.sources[0].streamed = true;
  chain.sources[0].flat = false;
  chain.sources[0].reader = [=](int64_t width, const IndexText& index) {
    return filled(packsWhole(axes, width) ? packedPad : elementPad,
                  {{"type", type}, {"value", value}, {"index", padIndex(axes, index)}});
  };
  return streamedChain(chain, gpu);
}

} // namespace dfc::cuda
