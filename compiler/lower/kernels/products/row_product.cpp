// One kernel for each layout of the matrix. [inner, columns]: a thread accumulates a pack of neighbouring
// columns over the inner axis; `lanes` adjacent threads have adjacent packs, and the other threads of the
// block split the inner axis. [columns, inner], transposed: the lanes of a warp split the inner axis of
// `together` columns, and `sharers` warps split it further. In both, partial sums are added within a warp by
// shuffles and across warps in shared memory, in a fixed order.
//
// All loads of an iteration are issued before the first value is used: the bandwidth that a multiprocessor
// reaches grows with its bytes in flight (Little's law).
#include "compiler/lower/kernels/products/row_product.h"

#include "compiler/lower/kernels/products/warp_sums.h"

#include "ir/base/assert.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// Shared by both kernels: adds the partial sums in `shared.at`, a line for each sharer, and applies the
// epilogue.
constexpr std::string_view rowsEndText = R"(
// Writes the thread's elements of a row of the result.
DFC_INLINE void finish(const f32* sums, int row, int first, $parameters$Element* to) {
#pragma unroll 1
  for (int c = threadIdx.x * width; c < blockColumns; c += threads * width) {
    if (first + c >= columns) continue;
    Product total[width];
#pragma unroll
    for (int e = 0; e < width; ++e) {
      f32 sum = 0.0f;
#pragma unroll
      for (int s = 0; s < lines; ++s) sum += sums[s * blockColumns + c + e];
      total[e] = stored<Product>(sum);
    }
    const Operands from{total$pointers$};
    const Index i = Index(row) * columns + (first + c);
    storePack(to + i, applied(gather<width>(from, i)));
  }
}
)";

constexpr std::string_view rowsByColumnsText = R"(
struct Shared { f32 at[rows][lines][blockColumns]; };
DFC_INLINE void run(const Product* a, const Product* b, $parameters$Element* to, const Block& block, Shared& shared) {
  const int lane = threadIdx.x % lanes, first = block.x * blockColumns, column = first + lane * pack;
  f32 sums[rows][pack] = {};
  if (column < columns) {
    const Product* const from = b + column;
#pragma unroll 1
    for (int k = threadIdx.x / lanes; k < inner; k += sharers * unroll) {
      Pack<Product, pack> loaded[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = k + u * sharers;
        loaded[u] = loadPack<pack>(from + Index(at < inner ? at : 0) * columns);
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = k + u * sharers;
        if (at >= inner) break;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const f32 x = valueOf(a[Index(r) * inner + at]);
#pragma unroll
          for (int e = 0; e < pack; ++e) sums[r][e] = fmaf(x, valueOf(loaded[u].at[e]), sums[r][e]);
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < rows; ++r) {
#pragma unroll
    for (int e = 0; e < pack; ++e) {
#pragma unroll
      for (int apart = lanes; apart < 32; apart *= 2) {
        sums[r][e] += __shfl_xor_sync(0xffffffffu, sums[r][e], apart);
      }
    }
    if (threadIdx.x % 32 < lanes) {
#pragma unroll
      for (int e = 0; e < pack; ++e) shared.at[r][threadIdx.x / 32][lane * pack + e] = sums[r][e];
    }
  }
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < rows; ++r) finish(shared.at[r][0], r, first, $given$to);
}
)";

constexpr std::string_view rowsByInnerText = R"(
struct Shared { f32 at[rows][lines][blockColumns]; };
DFC_INLINE void run(const Product* a, const Product* b, $parameters$Element* to, const Block& block, Shared& shared) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sharer = warp % sharers;
  const int own = warp / sharers * together, first = block.x * blockColumns;
  f32 sums[rows][together] = {};
#pragma unroll 1
  for (int k = (sharer * 32 + lane) * pack; k < inner; k += sharers * 32 * pack) {
    Pack<Product, pack> loaded[together];
#pragma unroll
    for (int c = 0; c < together; ++c) {
      const int column = first + own + c < columns ? first + own + c : columns - 1;
      loaded[c] = loadPack<pack>(b + Index(column) * inner + k);
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Pack<Product, pack> x = loadPack<pack>(a + Index(r) * inner + k);
#pragma unroll
      for (int c = 0; c < together; ++c) {
#pragma unroll
        for (int e = 0; e < pack; ++e) {
          sums[r][c] = fmaf(valueOf(x.at[e]), valueOf(loaded[c].at[e]), sums[r][c]);
        }
      }
    }
  }
  storeWarpSums(sums, lane, sharer, own, shared);
  __syncthreads();
#pragma unroll 1
  for (int r = 0; r < rows; ++r) finish(shared.at[r][0], r, first, $given$to);
}
)";

// How the work is divided among blocks and threads.
struct Division {
  int64_t pack = 1; ///< elements of a load
  int64_t threads = 256;
  int64_t lanes = 1;    ///< threads beside one another; columns first
  int64_t together = 1; ///< columns of a warp; inner axis first
  int64_t sharers = 1;  ///< threads or warps that share the inner axis
  int64_t unroll = 1;
  int64_t blockColumns = 1, lines = 1;
};

// Loads in flight need registers, which the accumulators of more rows take up.
int64_t loadsOf(const RowProduct& product) { return product.rows > 4 ? 4 : 8; }

// Narrow blocks where wide ones would leave multiprocessors idle; more threads of a block, likewise.
Division columnsFirst(const RowProduct& product, const GpuShape& gpu) {
  const int64_t bytes = byteWidth(product.element);
  Division made;
  made.pack = commonPowerOf2(packBytes / bytes, {product.columns});
  const int64_t sector = 32;
  made.lanes = std::max<int64_t>(1, sector / (made.pack * bytes));
  while (made.lanes < 8 && product.columns / (made.lanes * 2 * made.pack) >= 2 * gpu.multiprocessors) {
    made.lanes *= 2;
  }
  made.unroll = loadsOf(product);
  const int64_t blocks = ceilDiv(product.columns, made.lanes * made.pack);
  while (made.threads < 1024 && blocks * made.threads < 512 * gpu.multiprocessors &&
         made.threads / made.lanes * 4 <= product.inner) {
    made.threads *= 2;
  }
  made.sharers = made.threads / made.lanes;
  made.unroll = std::min(made.unroll, powerOf2From(ceilDiv(product.inner, made.sharers)));
  made.blockColumns = made.lanes * made.pack;
  made.lines = made.threads / 32;
  return made;
}

// Several columns of a warp where there are enough of them; several warps of a column where there are not.
Division innerFirst(const RowProduct& product, const GpuShape& gpu) {
  Division made;
  made.pack = commonPowerOf2(packBytes / byteWidth(product.element), {product.inner});
  const int64_t warps = made.threads / 32, wanted = 2 * warps * gpu.multiprocessors;
  while (made.together * 2 * product.rows <= 32 && made.together < 8 &&
         product.columns / (made.together * 2) >= wanted) {
    made.together *= 2;
  }
  while (made.sharers < warps && product.columns / made.together * made.sharers < wanted &&
         made.sharers * 2 * 32 * made.pack <= product.inner) {
    made.sharers *= 2;
  }
  made.blockColumns = warps / made.sharers * made.together;
  made.lines = made.sharers;
  return made;
}

// Loader of the epilogue's operand 0, the product, which lies in registers at `from`.
std::string sumsReader(int64_t /*width*/, const IndexText& /*index*/) {
  return "  (void)i;\n  Pack<Product, W> pack;\n#pragma unroll\n  for (int e = 0; e < W; ++e) pack.at[e] = "
         "from[e];\n  return pack;\n";
}

std::string constantsOf(const RowProduct& product, const Division& made, int64_t width) {
  return constant("rows", product.rows) + constant("columns", product.columns) +
         constant("inner", product.inner) + constant("pack", made.pack) + constant("threads", made.threads) +
         (product.transposedB ? constant("together", made.together)
                              : constant("lanes", made.lanes) + constant("unroll", made.unroll)) +
         constant("sharers", made.sharers) + constant("blockColumns", made.blockColumns) +
         constant("lines", made.lines) + constant("width", width);
}

} // namespace

std::optional<RowProduct> RowProduct::of(const ops::Matmul& product, OperandTypes factors) {
  const Shape &a = factors[0].shape, &b = factors[1].shape;
  const ElementType element = factors[0].element;
  if (b.rank() != 2 || (element != ElementType::F32 && !isHalf(element))) {
    return std::nullopt;
  }
  const int64_t inner = b[product.transposeB ? 1 : 0];
  if (inner == 0) {
    return std::nullopt;
  }
  const RowProduct made{a.elements() / inner, b[product.transposeB ? 0 : 1], inner, product.transposeB,
                        element};
  constexpr int64_t most = int64_t{1} << 30; // extents are counted in 32 bits
  // A single row is laid out alike in both orders.
  const bool dense = !product.transposeA || made.rows == 1;
  return dense && made.rows >= 1 && made.rows <= mostRows && made.columns > 1 && made.columns < most &&
                 inner < most
             ? std::optional(made)
             : std::nullopt;
}

GeneratedKernels rowProductKernel(const RowProduct& product, Chain last, const GpuShape& gpu) {
  const std::string storage(storageName(product.element));
  DFC_ASSERT(!last.sources.empty() && last.sources[0].operand == 0 && last.sources[0].type == storage,
             "what follows a product begins with it");
  const Division made = product.transposedB ? innerFirst(product, gpu) : columnsFirst(product, gpu);
  last.sources[0].reader = sumsReader;
  last.sources[0].reach = product.columns * product.inner; // b is addressed in the chain's index, too
  const int64_t width =
      commonPowerOf2(std::min<int64_t>(last.fullWidth(), 8), {product.columns, made.blockColumns});
  GeneratedLaunch launch;
  std::string parameters, pointers, given;
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Operand, 1, 0}};
  for (size_t n = 1; n < last.sources.size(); ++n) {
    parameters += fmt::format("const {}* p{}, ", last.sources[n].type, n);
    pointers += fmt::format(", p{}", n);
    given += fmt::format("p{}, ", n);
    launch.arguments.push_back({Argument::From::Operand, last.sources[n].operand + 1, 0});
  }
  launch.arguments.push_back({Argument::From::Result, 0, 0});
  launch.code = fmt::format("using Product = {};\n", storage) + last.text(width) +
                constantsOf(product, made, width) +
                std::string(product.transposedB ? warpSumsText : std::string_view()) +
                filled(rowsEndText, {{"parameters", parameters}, {"pointers", pointers}}) +
                filled(product.transposedB ? rowsByInnerText : rowsByColumnsText,
                       {{"parameters", parameters}, {"given", given}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(product.columns, made.blockColumns));
  launch.threads = static_cast<uint32_t>(made.threads);
  launch.sharedBytes = static_cast<uint32_t>(product.rows * made.lines * made.blockColumns * 4);
  launch.barriers = true;
  GeneratedKernels work;
  work.launches.push_back(std::move(launch));
  return work;
}

} // namespace dfc::cuda
