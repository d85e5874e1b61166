// layerNormGradient and rmsNormGradient: one sweep. Lanes of a warp, a warp or a block take a row, in packs
// of up to 16 bytes, which stays in registers with its cotangent; a row too long for that is read again. A
// block takes one row after the other, so that each thread adds up its columns of the gradients to scale and
// bias; a second launch adds the sums of the blocks. The rows of a block and the order of every sum are fixed
// by the shape and by the GPU that the launch is sized for. The mean and the root are computed as
// rows_norm.cpp computes them.
#include "compiler/lower/kernels/families.h"
#include "compiler/lower/kernels/rows/rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// With d = x - mean and g = cotangent * scale: sums of d, d^2, g and g d.
constexpr std::string_view headText = R"(
struct Totals { Real first, squares, g, gd; };
DFC_INLINE void merge(Totals& into, const Totals& from) {
  into.first += from.first;
  into.squares += from.squares;
  into.g += from.g;
  into.gd += from.gd;
}
DFC_INLINE Real shuffled(Real value, int lane) { return __shfl_xor_sync(0xffffffffu, value, lane); }
DFC_INLINE Totals shuffled(const Totals& totals, int lane) {
  return {shuffled(totals.first, lane), shuffled(totals.squares, lane), shuffled(totals.g, lane),
          shuffled(totals.gd, lane)};
}
DFC_INLINE Totals settled(const Totals& totals) { return totals; }
struct Row { Real mean, off, inverse, ofG, ofGx; }; // the last two: means of g and of g x
DFC_INLINE Row rowOf(Real mean, const Totals& totals) {
  const Real off = centred ? totals.first / Real(length) : Real(0), square = totals.squares / Real(length) - off * off;
  const Real inverse = Real(1) / rootOf((square > Real(0) || isNan(square) ? square : Real(0)) + $epsilon$);
  const Real ofG = totals.g / Real(length);
  return {mean, off, inverse, centred ? ofG : Real(0), (totals.gd / Real(length) - off * ofG) * inverse};
}
DFC_INLINE void add(Totals& totals, Real distance, Real g) {
  totals.first += distance;
  totals.squares += distance * distance;
  totals.g += g;
  totals.gd += g * distance;
}
DFC_INLINE Real normalOf(const Row& row, Real distance) { return (distance - row.off) * row.inverse; }
DFC_INLINE Element result(const Row& row, Real normal, Real g) {
  return stored<Element>((g - row.ofG - normal * row.ofGx) * row.inverse);
}
)";

// The sums of a block's threads become the block's. A block that takes one row at a time has them already.
constexpr std::string_view rowSumsText = R"(
constexpr int values = perThread * width;
DFC_INLINE void writeSums(Real (&sums)[values], int vector, Written* to, const Block& block, Shared&, Index first) {
  to += (Index(vector) * block.count + block.x) * length;
#pragma unroll
  for (int n = 0; n < perThread; ++n) {
    const Index column = first + n * (lanes * width);
    if (column >= length) continue;
#pragma unroll
    for (int k = 0; k < width; ++k) to[column + k] = stored<Written>(sums[n * width + k]);
  }
}
)";

// Lanes that have the same columns of other rows add up, then one warp after the other.
constexpr std::string_view rowsSumsText = R"(
constexpr int values = perThread * width;
struct Shared : Agreement { Real sums[$vectors$ * int(length)]; };
DFC_INLINE void addUp(Real (&sums)[values], Real* shared, Index first) {
#pragma unroll
  for (int lane = lanes; lane < 32; lane *= 2) {
#pragma unroll
    for (int k = 0; k < values; ++k) sums[k] += shuffled(sums[k], lane);
  }
  for (int warp = 0; warp < threads / 32; ++warp) {
    if (threadIdx.x / 32 == warp && threadIdx.x % 32 < lanes) {
#pragma unroll
      for (int n = 0; n < perThread; ++n) {
        const Index column = first + n * (lanes * width);
        if (column >= length) continue;
#pragma unroll
        for (int k = 0; k < width; ++k)
          shared[column + k] = warp == 0 ? sums[n * width + k] : shared[column + k] + sums[n * width + k];
      }
    }
    __syncthreads();
  }
}
DFC_INLINE void writeSums(Real (&sums)[values], int vector, Written* to, const Block& block, Shared& shared, Index first) {
  to += (Index(vector) * block.count + block.x) * length;
  Real* const added = shared.sums + vector * length;
  addUp(sums, added, first);
  for (Index column = threadIdx.x; column < length; column += threads) to[column] = stored<Written>(added[column]);
}
)";

constexpr std::string_view residentText = R"(
template <class After>
DFC_INLINE void run(const Element* from, const Element* scale, const Cotangent* cotangent, Element* to$parameters$,
                    const Block& block, Shared& shared, const After& after) {
  const Index first = threadIdx.x % lanes * width;
  Real ofScale[values], ofBias[values];
#pragma unroll
  for (int k = 0; k < values; ++k) ofScale[k] = ofBias[k] = Real(0);
  // Every thread of the block runs every iteration: `agreed` is a barrier of the block.
  for (Index part = block.x; part < (rows + threads / lanes - 1) / (threads / lanes); part += block.count) {
    const Index row = part * (threads / lanes) + threadIdx.x / lanes, base = row * length;
    const bool present = row < rows;
    Pack<Element, width> packs[perThread];
    Pack<Cotangent, width> cotangents[perThread];
#pragma unroll
    for (int n = 0; n < perThread; ++n) {
      const Index column = first + n * (lanes * width);
      if (present && column < length) {
        packs[n] = loadPack<width>(from + base + column);
        cotangents[n] = loadPack<width>(cotangent + base + column);
      }
    }
    Real x[values];
    Totals totals{Real(0), Real(0), Real(0), Real(0)};
#pragma unroll
    for (int n = 0; n < perThread; ++n) {
      const bool inside = present && first + n * (lanes * width) < length;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        x[n * width + k] = inside ? valueOf(packs[n].at[k]) : Real(0);
        totals.first += x[n * width + k];
      }
    }
    const Real mean = $mean$;
    totals = {Real(0), Real(0), Real(0), Real(0)};
#pragma unroll
    for (int n = 0; n < perThread; ++n) {
      const Index column = first + n * (lanes * width);
      if (!present || column >= length) continue;
      const Pack<Element, width> scales = loadPack<width>(scale + column);
#pragma unroll
      for (int k = 0; k < width; ++k) {
        x[n * width + k] -= mean;
        add(totals, x[n * width + k], valueOf(cotangents[n].at[k]) * valueOf(scales.at[k]));
      }
    }
    const Row known = rowOf(mean, agreed<1>(totals, shared));
#pragma unroll
    for (int n = 0; n < perThread; ++n) {
      const Index column = first + n * (lanes * width);
      if (!present || column >= length) continue;
      const Pack<Element, width> scales = loadPack<width>(scale + column);
      Pack<Element, width> pack;
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const Real normal = normalOf(known, x[n * width + k]), gradient = valueOf(cotangents[n].at[k]);
        pack.at[k] = result(known, normal, gradient * valueOf(scales.at[k]));
        if (toScale) ofScale[n * width + k] += gradient * normal;
        if (toBias) ofBias[n * width + k] += gradient;
      }
      storePack(to + base + column, pack);
      after.template pack<width>(u64(base) + column);
    }
    if (lanes > 32) __syncthreads(); // before they agree again
  }
$sums$}
)";

// The sums of a block's columns lie in the workspace, each for one thread.
constexpr std::string_view streamedText = R"(
DFC_INLINE void addTo(Real* sums, bool start, Real value) { *sums = start ? value : *sums + value; }
template <class After>
DFC_INLINE void run(const Element* from, const Element* scale, const Cotangent* cotangent, Element* to$parameters$,
                    const Block& block, Shared& shared, const After& after) {
  const Index first = threadIdx.x * width;
  for (Index row = block.x; row < rows; row += block.count) {
    const Index base = row * length;
    Totals totals{Real(0), Real(0), Real(0), Real(0)};
    if (centred) {
#pragma unroll 4
      for (Index column = first; column < length; column += threads * width) {
        const Pack<Element, width> pack = loadPack<width>(from + base + column);
#pragma unroll
        for (int k = 0; k < width; ++k) totals.first += valueOf(pack.at[k]);
      }
    }
    const Real mean = $mean$;
    totals = {Real(0), Real(0), Real(0), Real(0)};
#pragma unroll 2
    for (Index column = first; column < length; column += threads * width) {
      const Pack<Element, width> pack = loadPack<width>(from + base + column), scales = loadPack<width>(scale + column);
      const Pack<Cotangent, width> gradients = loadPack<width>(cotangent + base + column);
#pragma unroll
      for (int k = 0; k < width; ++k)
        add(totals, valueOf(pack.at[k]) - mean, valueOf(gradients.at[k]) * valueOf(scales.at[k]));
    }
    const Row known = rowOf(mean, agreed<1>(totals, shared));
#pragma unroll 2
    for (Index column = first; column < length; column += threads * width) {
      Pack<Element, width> pack = loadPack<width>(from + base + column);
      const Pack<Element, width> scales = loadPack<width>(scale + column);
      const Pack<Cotangent, width> gradients = loadPack<width>(cotangent + base + column);
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const Real normal = normalOf(known, valueOf(pack.at[k]) - mean), gradient = valueOf(gradients.at[k]);
        pack.at[k] = result(known, normal, gradient * valueOf(scales.at[k]));
$sums$      }
      storePack(to + base + column, pack);
      after.template pack<width>(u64(base) + column);
    }
    __syncthreads(); // before they agree again
  }
}
)";

constexpr std::string_view blocksText = R"(
  if (column < length) {
#pragma unroll 8
    for (Index n = group; n < $count$; n += groups) sum += from[(Index(block.y) * $count$ + n) * length + column];
  }
)";

// Adds the blocks' sums: groups of threads take every group-th block, then their sums are added.
constexpr std::string_view totalText = R"(
struct Shared { Real sums[groups][32]; };
DFC_INLINE void run(const Real* from$parameters$, const Block& block, Shared& shared) {
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32;
  const Index column = Index(block.x) * 32 + lane;
  Real sum = 0;
$blocks$  shared.sums[group][lane] = sum;
  __syncthreads();
  if (group != 0 || column >= length) return;
  for (int n = 1; n < groups; ++n) sum += shared.sums[n][lane];
  Element* const to = $to$;
  to[column] = stored<Element>(sum);
}
)";

struct GradientPlan {
  int64_t rows = 0, length = 0;
  int64_t width = 1, lanes = 1, perThread = 1, threads = 1, blocks = 0;
  bool resident = true; ///< in registers
};

// Threads of a multiprocessor for which there are registers, where a warp takes a row and where a block does.
constexpr int64_t warpRowThreads = 384, blockRowThreads = 512;

// Grid size: one wave, as many blocks as are resident on all multiprocessors. If a block takes one row at a
// time, a multiprocessor gets no more blocks than it takes to have `underWay` bytes of loads in flight.
// Bounds: at least `leastRows` rows a block, so that its sums cost few writes beside the reads, and at most
// `mostRows` rows a thread. `rowBytes`: bytes of a row and of its cotangent.
int64_t blocksOf(const GradientPlan& plan, int64_t rowBytes, const GpuShape& gpu) {
  constexpr int64_t underWay = int64_t{48} * 1024, leastRows = 16, mostRows = 128;
  const int64_t groups = ceilDiv(plan.rows, plan.threads / plan.lanes);
  const int64_t ofMultiprocessor =
      plan.lanes < plan.threads ? warpRowThreads / plan.threads
                                : std::min(blockRowThreads / plan.threads, ceilDiv(underWay, rowBytes));
  const int64_t enough = std::max(gpu.multiprocessors, plan.rows / leastRows);
  const int64_t together = std::min(gpu.multiprocessors * ofMultiprocessor, enough);
  return std::min(groups, std::max(together, ceilDiv(groups, mostRows)));
}

GradientPlan planOf(const TensorType& type, int64_t axis, const GpuShape& gpu) {
  const NormRows shape(type.shape, axis);
  GradientPlan plan;
  plan.rows = shape.rows;
  plan.length = shape.length;
  plan.width = commonPowerOf2(packBytes / byteWidth(type.element), {shape.length});
  const int64_t packs = shape.length / plan.width;
  // Packs of a row that one thread keeps in registers, where a warp takes the row and where a block does.
  // Four arrays of that size are live: operand, cotangent, and the two sums.
  const bool wide = type.element == ElementType::F64;
  const int64_t ofWarp = (wide ? 12 : 24) / plan.width, ofBlock = (wide ? 8 : 16) / plan.width;
  if (packs <= 32 * ofWarp) {
    plan.lanes = std::min<int64_t>(32, powerOf2From(ceilDiv(packs, 4)));
    plan.threads = plan.rows * plan.lanes >= gpu.multiprocessors * 192 ? 192 : 64;
  } else {
    plan.lanes = plan.threads = std::min<int64_t>(512, powerOf2From(ceilDiv(packs, ofBlock)));
    plan.resident = packs <= plan.lanes * ofBlock;
  }
  plan.perThread = ceilDiv(packs, plan.lanes);
  plan.blocks = blocksOf(plan, 2 * shape.length * byteWidth(type.element), gpu);
  return plan;
}

std::string_view realName(ElementType element) { return element == ElementType::F64 ? "f64" : "f32"; }

std::string typesText(const TensorType& type, const IndexText& index, const GradientPlan& plan) {
  return fmt::format("using Index = {};\nusing Real = {};\nusing Element = {};\n", index.type(),
                     realName(type.element), storageName(type.element)) +
         constant("Index", "length", index.of(plan.length));
}

Argument operand(uint32_t index) { return {Argument::From::Operand, index, 0}; }
Argument result(uint32_t index) { return {Argument::From::Result, index, 0}; }

// The sweep, which writes the blocks' sums: where there is one block, straight into the results.
GeneratedLaunch sweep(const NormGradientForm& form, const GradientPlan& plan, bool straight,
                      const TensorType& type, ElementType cotangent) {
  const auto vectors = static_cast<int64_t>(form.vectors());
  const int64_t realBytes = type.element == ElementType::F64 ? 8 : 4;
  const IndexText index(std::max(type.shape.elements(), plan.blocks * plan.length * vectors) +
                        plan.threads * plan.width);
  // Threads with the same columns add up.
  const bool inRows = vectors > 0 && plan.resident && plan.lanes < plan.threads;
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  std::string parameters, sums;
  GeneratedLaunch launch;
  launch.arguments = {operand(0), operand(1), operand(2), result(0)};
  launch.arguments[3].stride = static_cast<uint8_t>(byteWidth(type.element));
  launch.elements = type.shape.elements();
  launch.packWidth = plan.width;
  for (int64_t vector = 0; vector < vectors; ++vector) {
    const bool ofScale = form.toScale && vector == 0;
    if (plan.resident) {
      const std::string to = straight ? fmt::format("sums{}", vector) : "sums0";
      sums += fmt::format("  writeSums({}, {}, {}, block, shared, first);\n", ofScale ? "ofScale" : "ofBias",
                          straight ? 0 : vector, to);
    } else {
      sums += fmt::format(
          "        addTo(sums0 + ({}u * Index(block.count) + block.x) * length + column + k, row == "
          "block.x, {});\n",
          vector, ofScale ? "gradient * normal" : "gradient");
    }
    if (straight || vector == 0) {
      parameters += fmt::format(", Written* sums{}", vector);
      launch.arguments.push_back(straight ? result(static_cast<uint32_t>(vector + 1))
                                          : Argument{Argument::From::Workspace, 0, 0});
    }
  }
  launch.code =
      typesText(type, index, plan) + constant("Index", "rows", index.of(plan.rows)) +
      fmt::format("using Cotangent = {};\nusing Written = {};\n", storageName(cotangent),
                  straight ? "Element" : "Real") +
      constant("width", plan.width) + constant("threads", plan.threads) + constant("lanes", plan.lanes) +
      constant("bool", "centred", flag(form.centred)) +
      filled(headText, {{"epsilon", fmt::format("Real({:a})", form.epsilon)}}) +
      agreedText(plan.lanes, inRows ? "Agreement" : "Shared") +
      (plan.resident
           ? constant("perThread", plan.perThread) + constant("bool", "toScale", flag(form.toScale)) +
                 constant("bool", "toBias", flag(form.toBias)) +
                 filled(inRows ? rowsSumsText : rowSumsText, {{"vectors", std::to_string(vectors)}})
           : "") +
      filled(plan.resident ? residentText : streamedText,
             {{"parameters", parameters},
              {"mean", form.centred ? "agreed<0>(totals, shared).first / Real(length)" : "Real(0)"},
              {"sums", sums}});
  launch.grid[0] = static_cast<uint32_t>(plan.blocks);
  launch.threads = static_cast<uint32_t>(plan.threads);
  launch.barriers = true;
  if (plan.lanes < plan.threads) {
    launch.minBlocksPerMultiprocessor = static_cast<uint32_t>(warpRowThreads / plan.threads);
  }
  const int64_t agreement = plan.lanes <= 32 ? 0 : 2 * plan.lanes / 32 * 4 * realBytes;
  const int64_t added = inRows ? vectors * plan.length : 0;
  launch.sharedBytes = static_cast<uint32_t>(agreement + added * realBytes);
  return launch;
}

GeneratedLaunch total(const GradientPlan& plan, uint32_t vectors, const TensorType& type) {
  const IndexText index(plan.blocks * plan.length * vectors + 32);
  const int64_t groups = std::min<int64_t>(32, powerOf2From(plan.blocks));
  GeneratedLaunch launch;
  launch.code =
      typesText(type, index, plan) + constant("groups", groups) +
      filled(totalText,
             {{"blocks", plan.blocks > 0 ? filled(blocksText, {{"count", index.of(plan.blocks)}}) : ""},
              {"parameters", vectors == 2 ? ", Element* first, Element* second" : ", Element* first"},
              {"to", vectors == 2 ? "block.y == 0 ? first : second" : "first"}});
  launch.grid = {static_cast<uint32_t>(ceilDiv(plan.length, 32)), vectors};
  launch.threads = static_cast<uint32_t>(32 * groups);
  launch.barriers = true;
  launch.sharedBytes = static_cast<uint32_t>(groups * 32 * (type.element == ElementType::F64 ? 8 : 4));
  launch.arguments.push_back({Argument::From::Workspace, 0, 0});
  for (uint32_t vector = 0; vector < vectors; ++vector) {
    launch.arguments.push_back(result(vector + 1));
  }
  return launch;
}

} // namespace

GeneratedKernels normGradientKernel(const NormGradientForm& form, OperandTypes operands,
                                    const GpuShape& gpu) {
  const TensorType& type = operands[0];
  const GradientPlan plan = planOf(type, form.axis, gpu);
  const auto vectors = static_cast<uint32_t>(form.vectors());
  const bool straight = plan.blocks == 1 && plan.resident;
  GeneratedKernels work;
  if (plan.rows > 0) {
    work.launches.push_back(sweep(form, plan, straight, type, operands[2].element));
  }
  if (vectors > 0 && !straight) { // of no rows the sums are 0
    work.launches.push_back(total(plan, vectors, type));
    work.workspaceBytes = std::max<int64_t>(plan.blocks * plan.length * vectors, 1) * 8;
  }
  return work;
}

} // namespace dfc::cuda
