// conv2d and its gradients. Products of some size go in tiles through shared memory, each thread summing a
// small square in registers; where a group has few rows (depthwise convolutions) every thread sums one
// element, and where it also has few columns a block does. Where there are too few tiles to fill a device,
// the inner extent is cut, and a second launch adds the pieces in order. Sums are carried in f32, f64 for
// f64.
#include "compiler/lower/kernels/convolution.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

using Pass = ProductShape::Pass;

// A tile of a result: [rows, columns] by `inner` at a time, [perRow, perColumn] of it in a thread.
struct Tile {
  int64_t rows, columns, inner, perRow, perColumn;
  int64_t threads() const { return rows / perRow * (columns / perColumn); }
};

constexpr std::string_view tiledText = R"(
// `along`: whether neighbouring threads fetch neighbouring k.
template <bool along, int extent> DFC_INLINE void placeIn(int n, int& k, int& at) {
  k = along ? n % tileInner : n / extent;
  at = along ? n / tileInner : n % extent;
}
struct alignas(16) Shared { Real left[tileInner][tileRows + 4], right[tileInner][tileColumns + 4]; };
DFC_INLINE void run(const Element* first, const Element* second, $Written$* to, const Block& block, Shared& shared) {
  auto& left = shared.left;
  auto& right = shared.right;
  const Index column0 = Index(block.x) % tilesAlong * tileColumns, above = Index(block.x) / tilesAlong;
  const Index row0 = above % tilesDown * tileRows, group = above / tilesDown % groups;
  const Index piece = above / tilesDown / groups, begin = piece * pieceInner;
  const Index end = begin + pieceInner < inner ? begin + pieceInner : inner;
  constexpr int leftEach = tileRows * tileInner / threads, rightEach = tileColumns * tileInner / threads;
  const int thread = threadIdx.x;
  const int ownRow = thread / (tileColumns / perColumn) * perRow;
  const int ownColumn = thread % (tileColumns / perColumn) * perColumn;
  Real leftNext[leftEach], rightNext[rightEach], sums[perRow][perColumn];
#pragma unroll
  for (int i = 0; i < perRow; ++i) {
#pragma unroll
    for (int j = 0; j < perColumn; ++j) sums[i][j] = Real(0);
  }
  int k = 0, at = 0;
  for (Index base = begin; base < end; base += tileInner) {
#pragma unroll
    for (int n = 0; n < leftEach; ++n) {
      placeIn<leftAlong, tileRows>(n * threads + thread, k, at);
      leftNext[n] = base + k < end ? leftAt(first, second, group, row0 + at, base + k) : Real(0);
    }
#pragma unroll
    for (int n = 0; n < rightEach; ++n) {
      placeIn<rightAlong, tileColumns>(n * threads + thread, k, at);
      rightNext[n] = base + k < end ? rightAt(first, second, group, base + k, column0 + at) : Real(0);
    }
    __syncthreads(); // the tile before has been read
#pragma unroll
    for (int n = 0; n < leftEach; ++n) {
      placeIn<leftAlong, tileRows>(n * threads + thread, k, at);
      left[k][at] = leftNext[n];
    }
#pragma unroll
    for (int n = 0; n < rightEach; ++n) {
      placeIn<rightAlong, tileColumns>(n * threads + thread, k, at);
      right[k][at] = rightNext[n];
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < tileInner; ++step) {
      Real a[perRow], b[perColumn];
#pragma unroll
      for (int i = 0; i < perRow; ++i) a[i] = left[step][ownRow + i];
#pragma unroll
      for (int j = 0; j < perColumn; ++j) b[j] = right[step][ownColumn + j];
#pragma unroll
      for (int i = 0; i < perRow; ++i) {
#pragma unroll
        for (int j = 0; j < perColumn; ++j) sums[i][j] = fusedSum(a[i], b[j], sums[i][j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < perRow; ++i) {
#pragma unroll
    for (int j = 0; j < perColumn; ++j) {
      const Index row = row0 + ownRow + i, column = column0 + ownColumn + j;
      if (row < rows && column < columns) to[$place$] = $value$;
    }
  }
}
)";

constexpr std::string_view addedText = R"(
struct Shared {};
DFC_INLINE void run(const Real* from, Element* to, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= elements) return;
  Real sum = from[i];
  for (Index piece = 1; piece < pieces; ++piece) sum += from[piece * elements + i];
  to[i] = stored<Element>(sum);
}
)";

constexpr std::string_view singleText = R"(
struct Shared {};
DFC_INLINE void run(const Element* first, const Element* second, Element* to, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= groups * rows * columns) return;
  const Index column = i % columns, row = i / columns % rows, group = i / columns / rows;
  Real sum = 0;
#pragma unroll 4
  for (Index k = 0; k < inner; ++k) {
    sum = fusedSum(leftAt(first, second, group, row, k), rightAt(first, second, group, k, column), sum);
  }
  to[placeOf(group, row, column)] = stored<Element>(sum);
}
)";

constexpr std::string_view blockText = R"(
struct Shared { Real ofWarps[8]; };
DFC_INLINE void run(const Element* first, const Element* second, Element* to, const Block& block, Shared& shared) {
  auto& ofWarps = shared.ofWarps;
  const Index i = block.x;
  const Index column = i % columns, row = i / columns % rows, group = i / columns / rows;
  Real sum = 0;
#pragma unroll 4
  for (Index k = threadIdx.x; k < inner; k += 256) {
    sum = fusedSum(leftAt(first, second, group, row, k), rightAt(first, second, group, k, column), sum);
  }
#pragma unroll
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) ofWarps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 1; warp < 8; ++warp) sum += ofWarps[warp];
  to[placeOf(group, row, column)] = stored<Element>(sum);
}
)";

// The largest tile that still gives every multiprocessor one, or the smallest.
Tile tileFor(const ProductShape& shape, bool wide, const GpuShape& gpu) {
  constexpr Tile tiles[] = {{128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 64, 16, 4, 4}, {16, 64, 16, 2, 4}};
  for (const Tile& tile : tiles) {
    const bool filled = shape.rows > tile.rows / 2 && shape.columns > tile.columns / 2;
    const int64_t count = ceilDiv(shape.rows, tile.rows) * ceilDiv(shape.columns, tile.columns);
    const bool large = tile.rows > 64;
    if (filled && !(large && (wide || count * shape.conv.groups < 2 * gpu.multiprocessors))) {
      return tile;
    }
  }
  return tiles[3];
}

// Pieces of the inner extent: enough for two blocks a multiprocessor, none shorter than 16 steps of a tile.
int64_t piecesFor(const ProductShape& shape, const Tile& tile, int64_t tiles, const GpuShape& gpu) {
  const int64_t wanted = ceilDiv(2 * gpu.multiprocessors, tiles);
  const int64_t most = std::max<int64_t>(1, shape.inner / (16 * tile.inner));
  return std::clamp<int64_t>(wanted, 1, most);
}

void addOperands(GeneratedLaunch& launch) {
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Operand, 1, 0}};
}

GeneratedKernels tiled(const ProductShape& shape, ElementType element, const GpuShape& gpu) {
  const bool wide = element == ElementType::F64;
  const Tile tile = tileFor(shape, wide, gpu);
  const int64_t down = ceilDiv(shape.rows, tile.rows), along = ceilDiv(shape.columns, tile.columns);
  const int64_t tiles = down * along * shape.conv.groups;
  const int64_t wanted = piecesFor(shape, tile, tiles, gpu);
  const int64_t pieceInner = ceilDiv(ceilDiv(shape.inner, wanted), tile.inner) * tile.inner;
  const int64_t pieces = ceilDiv(shape.inner, pieceInner);
  const int64_t elements = shape.conv.groups * shape.rows * shape.columns;
  const int64_t most = std::max(elements * pieces, shape.inner + pieceInner);
  const IndexText index(most);
  const std::string text = productText(shape, element, most);
  const auto number = [&](std::string_view name, int64_t value) {
    return constant("Index", name, index.of(value));
  };
  const bool filterPass = shape.pass == Pass::FilterGradient;
  GeneratedLaunch launch;
  launch.code = text + constant("tileRows", tile.rows) + constant("tileColumns", tile.columns) +
                constant("tileInner", tile.inner) + constant("perRow", tile.perRow) +
                constant("perColumn", tile.perColumn) + constant("threads", tile.threads()) +
                number("tilesDown", down) + number("tilesAlong", along) + number("pieceInner", pieceInner) +
                (pieces > 1 ? number("elements", elements) : "") + constant("bool", "leftAlong", "true") +
                constant("bool", "rightAlong", filterPass ? "true" : "false") +
                filled(tiledText, {{"Written", pieces > 1 ? "Real" : "Element"},
                                   {"place", pieces > 1 ? "piece * elements + placeOf(group, row, column)"
                                                        : "placeOf(group, row, column)"},
                                   {"value", pieces > 1 ? "sums[i][j]" : "stored<Element>(sums[i][j])"}});
  launch.grid[0] = static_cast<uint32_t>(tiles * pieces);
  launch.threads = static_cast<uint32_t>(tile.threads());
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(tile.inner * (tile.rows + tile.columns + 8) * (wide ? 8 : 4));
  addOperands(launch);
  launch.arguments.push_back({pieces > 1 ? Argument::From::Workspace : Argument::From::Result, 0, 0});
  GeneratedKernels work{{std::move(launch)}, 0};
  if (pieces > 1) {
    GeneratedLaunch second = elementLaunch(
        text + number("elements", elements) + number("pieces", pieces) + std::string(addedText), elements);
    second.arguments = {{Argument::From::Workspace, 0, 0}, {Argument::From::Result, 0, 0}};
    work.launches.push_back(std::move(second));
    work.workspaceBytes = pieces * elements * (wide ? 8 : 4);
  }
  return work;
}

GeneratedKernels untiled(const ProductShape& shape, ElementType element, bool byBlock) {
  const int64_t elements = shape.conv.groups * shape.rows * shape.columns;
  GeneratedLaunch launch = elementLaunch(
      productText(shape, element, elements) + std::string(byBlock ? blockText : singleText), elements);
  if (byBlock) {
    launch.grid[0] = static_cast<uint32_t>(elements);
    launch.barriers = true;
    launch.sharedBytes = element == ElementType::F64 ? 64 : 32;
  }
  addOperands(launch);
  launch.arguments.push_back({Argument::From::Result, 0, 0});
  return {{std::move(launch)}, 0};
}

GeneratedKernels zeros(const TensorType& result, const GpuShape& gpu) {
  return streamedChain(constantChain(result.shape.elements(), result.element, "0"), gpu);
}

GeneratedKernels product(const ProductShape& shape, const TensorType& result, const GpuShape& gpu) {
  if (shape.inner == 0) {
    return zeros(result, gpu);
  }
  if (shape.rows >= 8 && shape.columns >= 8) {
    return tiled(shape, result.element, gpu);
  }
  return untiled(shape, result.element, shape.rows * shape.columns < 1024 && shape.inner >= 1024);
}

} // namespace

GeneratedKernels convolutionKernel(const ops::Conv2d& op, OperandTypes operands, const TensorType& result,
                                   const GpuShape& gpu) {
  const Convolution conv = convolutionOf(op, operands);
  return product({Pass::Forward, conv, conv.groupFilters(), conv.batch() * conv.pixels(), conv.terms()},
                 result, gpu);
}

GeneratedKernels convolutionKernel(const ops::Conv2dInputGradient& op, OperandTypes operands,
                                   const TensorType& result, const GpuShape& gpu) {
  const Convolution conv = convolutionOf(op, operands);
  return product({Pass::InputGradient, conv, conv.groupChannels(), conv.batch() * conv.imagePixels(),
                  conv.groupFilters() * conv.windows.size()},
                 result, gpu);
}

GeneratedKernels convolutionKernel(const ops::Conv2dFilterGradient& op, OperandTypes operands,
                                   const TensorType& result, const GpuShape& gpu) {
  const Convolution conv = convolutionOf(op, operands);
  return product(
      {Pass::FilterGradient, conv, conv.groupFilters(), conv.terms(), conv.batch() * conv.pixels()}, result,
      gpu);
}

} // namespace dfc::cuda
