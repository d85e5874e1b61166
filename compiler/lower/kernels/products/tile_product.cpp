// A block's four tileWarps share its tile's inner dimension: of every chunk of 32, each takes 8, one step of
// the tensor cores, so that a chunk costs one barrier and every warp multiplies 32 x 32. Chunks come in by
// asynchronous copies, three ahead. At the end the tileWarps' sums are added in their order.
//
// Strides in shared memory keep the 32 loads of a fragment's register in banks of their own: those of a
// factor whose inner axis lies last are 4 more than a multiple of 32, of one whose inner axis lies first 8
// more. The layout of fragments is that of PTX's mma.m16n8k8 for .tf32.
#include "compiler/lower/kernels/products/tile_product.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr int64_t tile = 32, packElements = 4;
constexpr int64_t chunk = 32, stages = 4, tileWarps = 4;
constexpr int64_t strideOfSums = tile + 4;

constexpr int64_t strideWith(bool innerLast) { return innerLast ? chunk + 4 : tile + 8; }
static_assert(tile == chunk, "rows of a staged factor are as many, whichever axis they are");

constexpr std::string_view machineText = R"(
#ifndef DFC_ON_HOST
// 16 bytes into shared memory, zeros unless `present`; arrived when awaited.
DFC_INLINE void copyPack(f32* to, const f32* from, bool present) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(u32(__cvta_generic_to_shared(to))), "l"(from), "r"(present ? 16u : 0u) : "memory");
}
DFC_INLINE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int left> DFC_INLINE void awaitCopies() {
  asm volatile("cp.async.wait_group %0;" :: "n"(left) : "memory");
}
// 16 x 8 sums += 16 x 8 of tf32 times 8 x 8, by a warp.
DFC_INLINE void multiplyTiles(f32 (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
DFC_INLINE u32 bitsOf(f32 a) { return __float_as_uint(a); }
#endif
)";

constexpr std::string_view productText = R"(
struct Shared { alignas(16) f32 at[$shared$]; };

// The tensor cores drop the 13 bits behind tf32's last place. A third of that place, taken of the value, goes
// on top first: at most two thirds are lost, none on average, and infinities and NaNs stay what they are. (What
// would overflow, above 3.4017e38, becomes infinite, as in rounding to nearest the last of it does.)
// (A conversion of each, cvt.rna, took 0.5 of 7.7 us in an early form of this kernel on an H200.)
DFC_INLINE u32 roundedToTf32(f32 a) { return bitsOf(fmaf(a, 1.0f / 3072.0f, a)); }

// A factor's chunk from `k` on, for the tile's 32 rows of it (columns of b) from `first` on, of `extent`.
template <bool innerLast> DFC_INLINE void fetch(f32* to, const f32* from, int first, int extent, int k) {
  constexpr int stride = innerLast ? chunk + 4 : tile + 8;
#pragma unroll
  for (int n = 0; n < tile * chunk / 4 / threads; ++n) {
    const int pack = threadIdx.x + n * threads, line = pack / (tile / 4), along = pack % (tile / 4) * 4;
    const int row = first + (innerLast ? line : along), inside = k + (innerLast ? along : line);
    const bool present = row < extent && inside < inner;
    const Index at = innerLast ? Index(row) * inner + inside : Index(inside) * extent + row;
    copyPack(to + line * stride + along, from + (present ? at : 0), present);
  }
}
template <bool innerLast> DFC_INLINE u32 staged(const f32* from, int row, int k) {
  return roundedToTf32(from[innerLast ? row * (chunk + 4) + k : k * (tile + 8) + row]);
}

DFC_INLINE void run(const f32* a, const f32* b, $parameters$Element* to, const Block& block, Shared& shared) {
  const int tilesDown = (rows + tile - 1) / tile;
  const int firstRow = block.x % tilesDown * tile, firstColumn = block.x / tilesDown * tile;
  const auto fetchChunk = [&](int c) {
    f32* const stage = shared.at + c % stages * stageElements;
    fetch<!transposedA>(stage, a, firstRow, rows, c * chunk);
    fetch<transposedB>(stage + elementsOfA, b, firstColumn, columns, c * chunk);
  };
#pragma unroll
  for (int c = 0; c < stages - 1; ++c) {
    if (c < chunks) fetchChunk(c);
    commitCopies();
  }
  const int warp = threadIdx.x / 32, group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
  f32 sums[2][4][4] = {};
#pragma unroll 1
  for (int c = 0; c < chunks; ++c) {
    awaitCopies<stages - 2>();
    __syncthreads(); // the chunk is there for all, and all are done with the one that the next copies overwrite
    if (c + stages - 1 < chunks) fetchChunk(c + stages - 1);
    commitCopies();
    const f32* const left = shared.at + c % stages * stageElements;
    const f32* const right = left + elementsOfA;
    const int k = warp * 8 + lane;
    u32 ofA[2][4], ofB[4][2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        ofA[i][q] = staged<!transposedA>(left, i * 16 + q % 2 * 8 + group, k + q / 2 * 4);
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      ofB[j][0] = staged<transposedB>(right, j * 8 + group, k);
      ofB[j][1] = staged<transposedB>(right, j * 8 + group, k + 4);
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) multiplyTiles(sums[i][j], ofA[i], ofB[j]);
    }
  }
  awaitCopies<0>();
  __syncthreads(); // the sums lie where the chunks lay
  f32* const own = shared.at + warp * (tile * strideOfSums);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        own[(i * 16 + q / 2 * 8 + group) * strideOfSums + j * 8 + lane * 2 + q % 2] = sums[i][j][q];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int n = 0; n < tile * tile / 4 / threads; ++n) {
    const int pack = threadIdx.x + n * threads, row = pack / (tile / 4), column = pack % (tile / 4) * 4;
    if (firstRow + row >= rows || firstColumn + column >= columns) continue;
    f32 total[4] = {};
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const Pack<f32, 4> part = loadPack<4>(shared.at + (w * tile + row) * strideOfSums + column);
#pragma unroll
      for (int e = 0; e < 4; ++e) total[e] += part.at[e];
    }
#pragma unroll
    for (int e = 0; e < 4; e += width) {
      const Operands from{total + e$pointers$};
      const Index i = Index(firstRow + row) * columns + (firstColumn + column + e);
      storePack(to + i, applied(gather<width>(from, i)));
    }
  }
}
)";

// Source 0 of the chain lies in registers, where `from` points.
std::string registerReader(int64_t /*width*/, const IndexText& /*index*/) {
  return "  (void)i;\n  Pack<f32, W> pack;\n#pragma unroll\n  for (int e = 0; e < W; ++e) pack.at[e] = "
         "from[e];\n"
         "  return pack;\n";
}

std::string constantsOf(const TileProduct& product, int64_t width) {
  const auto boolean = [](std::string_view name, bool value) {
    return constant("bool", name, value ? "true" : "false");
  };
  const int64_t ofA = tile * strideWith(!product.transposedA), ofB = tile * strideWith(product.transposedB);
  return constant("rows", product.rows) + constant("columns", product.columns) +
         constant("inner", product.inner) + boolean("transposedA", product.transposedA) +
         boolean("transposedB", product.transposedB) + constant("tile", tile) + constant("chunk", chunk) +
         constant("stages", stages) + constant("warps", tileWarps) + constant("threads", tileWarps * 32) +
         constant("chunks", ceilDiv(product.inner, chunk)) + constant("width", width) +
         constant("strideOfSums", strideOfSums) + constant("elementsOfA", ofA) +
         constant("stageElements", ofA + ofB);
}

int64_t sharedElements(const TileProduct& product) {
  const int64_t stage = tile * (strideWith(!product.transposedA) + strideWith(product.transposedB));
  return std::max(stages * stage, tileWarps * tile * strideOfSums);
}

} // namespace

std::optional<TileProduct> TileProduct::of(const ops::Matmul& product, OperandTypes factors) {
  const Shape &a = factors[0].shape, &b = factors[1].shape;
  if (product.precision != ops::Precision::Tf32 || factors[0].element != ElementType::F32 || a.rank() != 2 ||
      b.rank() != 2) {
    return std::nullopt;
  }
  const TileProduct made{a[product.transposeA ? 1 : 0], b[product.transposeB ? 0 : 1],
                         a[product.transposeA ? 0 : 1], product.transposeA, product.transposeB};
  constexpr int64_t most = int64_t{1} << 30; // elements and extents are counted in 32 bits
  const bool counts = std::max({a.elements(), b.elements(), made.rows * made.columns}) < most;
  const bool inPacks =
      a[1] % packElements == 0 && b[1] % packElements == 0 && made.columns % packElements == 0;
  const bool hasElements = made.rows > 1 && made.columns > 0 && made.inner > 0;
  return hasElements && counts && inPacks ? std::optional(made) : std::nullopt;
}

int64_t TileProduct::tiles() const { return ceilDiv(rows, tile) * ceilDiv(columns, tile); }

bool TileProduct::isSmall(const GpuShape& gpu) const {
  constexpr int64_t mostInner = 512; // of the tiles of a multiprocessor, which it makes at once
  return tiles() <= 2 * gpu.multiprocessors && ceilDiv(tiles(), gpu.multiprocessors) * inner <= mostInner;
}

GeneratedKernels tileProductKernel(const TileProduct& product, Chain last) {
  DFC_ASSERT(!last.sources.empty() && last.sources[0].operand == 0 && last.sources[0].type == "f32",
             "what follows a product begins with it");
  last.sources[0].reader = registerReader;
  const int64_t width = std::min(packElements, last.fullWidth());
  GeneratedLaunch launch;
  std::string parameters, pointers;
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Operand, 1, 0}};
  for (size_t n = 1; n < last.sources.size(); ++n) {
    parameters += fmt::format("const {}* p{}, ", last.sources[n].type, n);
    pointers += fmt::format(", p{}", n);
    launch.arguments.push_back({Argument::From::Operand, last.sources[n].operand + 1, 0});
  }
  launch.arguments.push_back({Argument::From::Result, 0, 0});
  const int64_t shared = sharedElements(product);
  launch.code =
      last.text(width) + constantsOf(product, width) + std::string(machineText) +
      filled(productText,
             {{"shared", fmt::format("{}", shared)}, {"parameters", parameters}, {"pointers", pointers}});
  launch.grid[0] = static_cast<uint32_t>(product.tiles());
  launch.threads = tileWarps * 32;
  launch.sharedBytes = static_cast<uint32_t>(shared * 4);
  launch.barriers = true;
  GeneratedKernels work;
  work.launches.push_back(std::move(launch));
  return work;
}

} // namespace dfc::cuda
