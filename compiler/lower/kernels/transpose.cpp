// Transpose. Axes that stay neighbours are merged first. If the innermost axis stays, rows are copied in
// packs. Otherwise the operand's innermost axis (q) and the result's (p) are walked in square tiles through
// shared memory, so that both sides are read and written along their own rows: warps move 32 packs of a row.
// The tile's pitch keeps the transposed reads off one bank.
#include "compiler/lower/kernels/families.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

struct Moved {
  int64_t extent = 1, from = 0, to = 0; ///< strides in the operand and in the result
};

// The result's axes, outermost first; neighbours that are neighbours in both are one.
llvm::SmallVector<Moved, 8> movedAxes(const ops::Transpose& op, const Shape& operand, const Shape& result) {
  const size_t rank = operand.rank();
  llvm::SmallVector<int64_t, 8> strides(rank, 1);
  for (size_t d = rank; d-- > 1;) {
    strides[d - 1] = strides[d] * operand[d];
  }
  llvm::SmallVector<Moved, 8> axes;
  for (size_t d = 0; d < rank; ++d) {
    const size_t source = op.permutation.empty() ? rank - 1 - d : static_cast<size_t>(op.permutation[d]);
    if (result[d] == 1) {
      continue;
    }
    if (!axes.empty() && axes.back().from == strides[source] * result[d]) {
      axes.back() = {axes.back().extent * result[d], strides[source], 0};
    } else {
      axes.push_back({result[d], strides[source], 0});
    }
  }
  int64_t stride = 1;
  for (size_t d = axes.size(); d-- > 0; stride *= axes[d].extent) {
    axes[d].to = stride;
  }
  return axes;
}

GeneratedKernels strided(llvm::ArrayRef<Moved> axes, const TensorType& operand, const GpuShape& gpu) {
  llvm::SmallVector<Access::Axis, 8> walked;
  for (const Moved& axis : axes) {
    walked.push_back({axis.extent, axis.from});
  }
  return streamedChain({operand.shape.elements(),
                        std::string(bitsName(operand.element)),
                        byteWidth(operand.element),
                        {bitsOf(operand, Access(walked), 0)},
                        ""},
                       gpu);
}

constexpr std::string_view transposeText = R"(
using Index = $Index$;
using Element = $Element$;
constexpr Index extentP = $extentP$, extentQ = $extentQ$;     // along the result's rows, along the operand's
constexpr Index strideP = $strideP$, strideQ = $strideQ$; // of p in the operand, of q in the result
constexpr Index tilesP = $tilesP$, tilesQ = $tilesQ$;
struct Shared { Element tile[edge][pitch]; }; // [p][q]
DFC_INLINE void run(const Element* from, Element* to, const Block& block, Shared& shared) {
  auto& tile = shared.tile;
  const Index tileQ = block.x % tilesQ, rest = block.x / tilesQ;
  const Index tileP = rest % tilesP, batch = rest / tilesP;
  (void)batch;
  const int lane = threadIdx.x % 32 * width, warp = threadIdx.x / 32;
  const Element* const source = from + ($batchFrom$);
  Element* const target = to + ($batchTo$);
  Pack<Element, width> packs[edge / 8];
  const Index q = tileQ * edge + lane;
#pragma unroll
  for (int row = 0; row < edge; row += 8) {
    const Index p = tileP * edge + row + warp;
    if (p < extentP && q < extentQ) packs[row / 8] = loadPack<width>(source + p * strideP + q);
  }
#pragma unroll
  for (int row = 0; row < edge; row += 8) {
#pragma unroll
    for (int k = 0; k < width; ++k) tile[row + warp][lane + k] = packs[row / 8].at[k];
  }
  __syncthreads();
  const Index resultP = tileP * edge + lane;
#pragma unroll
  for (int row = 0; row < edge; row += 8) {
    const Index resultQ = tileQ * edge + row + warp;
    Pack<Element, width> pack;
#pragma unroll
    for (int k = 0; k < width; ++k) pack.at[k] = tile[lane + k][row + warp];
    if (resultP < extentP && resultQ < extentQ) storePack(target + resultQ * strideQ + resultP, pack);
  }
}
)";

// Elements that a lane moves: 8 bytes for f32, 4 for narrower types, where every row starts aligned.
int64_t tileWidth(llvm::ArrayRef<Moved> axes, int64_t bytes) {
  int64_t width = bytes == 4 ? 2 : bytes < 4 ? 4 / bytes : 1;
  for (const Moved& axis : axes) {
    width = commonPowerOf2(width,
                           {axis.from == 1 ? axis.extent : axis.from, axis.to == 1 ? axis.extent : axis.to});
  }
  return width;
}

GeneratedKernels tiled(llvm::ArrayRef<Moved> axes, size_t q, ElementType element, int64_t count) {
  const Moved p = axes.back();
  llvm::SmallVector<Access::Axis, 8> batchFrom, batchTo;
  int64_t batches = 1;
  for (size_t d = 0; d + 1 < axes.size(); ++d) {
    if (d != q) {
      batchFrom.push_back({axes[d].extent, axes[d].from});
      batchTo.push_back({axes[d].extent, axes[d].to});
      batches *= axes[d].extent;
    }
  }
  const IndexText index(count);
  const int64_t bytes = byteWidth(element), width = tileWidth(axes, bytes), edge = 32 * width;
  const int64_t pitch = edge + std::max<int64_t>(1, 4 / bytes);
  const int64_t tilesP = ceilDiv(p.extent, edge), tilesQ = ceilDiv(axes[q].extent, edge);
  GeneratedLaunch launch;
  launch.code = constant("width", width) + constant("edge", edge) + constant("pitch", pitch) +
                filled(transposeText, {{"Index", std::string(index.type())},
                                       {"Element", std::string(bitsName(element))},
                                       {"extentP", index.of(p.extent)},
                                       {"extentQ", index.of(axes[q].extent)},
                                       {"strideP", index.of(p.from)},
                                       {"strideQ", index.of(axes[q].to)},
                                       {"tilesP", index.of(tilesP)},
                                       {"tilesQ", index.of(tilesQ)},
                                       {"batchFrom", Access(batchFrom).offset("batch", index)},
                                       {"batchTo", Access(batchTo).offset("batch", index)}});
  launch.grid[0] = static_cast<uint32_t>(tilesP * tilesQ * batches);
  launch.threads = 256;
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(edge * pitch * bytes);
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace

GeneratedKernels transposeKernel(const ops::Transpose& op, const TensorType& operand,
                                 const TensorType& result, const GpuShape& gpu) {
  const auto axes = movedAxes(op, operand.shape, result.shape);
  if (axes.empty() || axes.back().from == 1) {
    return strided(axes, operand, gpu);
  }
  const auto* inner =
      std::find_if(axes.begin(), axes.end(), [](const Moved& axis) { return axis.from == 1; });
  DFC_ASSERT(inner != axes.end(), "a transpose without an innermost axis");
  constexpr int64_t narrow = 16; // a tile would be mostly empty
  if (std::min(inner->extent, axes.back().extent) < narrow) {
    return strided(axes, operand, gpu);
  }
  return tiled(axes, static_cast<size_t>(inner - axes.begin()), operand.element, operand.shape.elements());
}

} // namespace dfc::cuda
