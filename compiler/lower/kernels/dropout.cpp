// dropout: each thread draws whole Philox blocks for its own elements (ir/graph/rules/dropout_mask.h), so
// nothing but the operand is read.
#include "compiler/lower/kernels/families.h"
#include "compiler/lower/kernels/random_text.h"
#include "ir/graph/rules/dropout_mask.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view dropoutText = R"(
struct Shared {};
DFC_INLINE void run(const Element* from, const i64* step, Element* to, const Block& block, Shared&) {
  const Index first = (Index(block.x) * threads + threadIdx.x) * per;
  if (first >= count) return;
  Pack<Element, width> packs[per / width];
  if (first + per <= count) {
#pragma unroll
    for (int p = 0; p < per / width; ++p) packs[p] = loadPack<width>(from + first + p * width);
  } else {
#pragma unroll
    for (int i = 0; i < per; ++i) {
      if (first + i < count) packs[i / width].at[i % width] = from[first + i];
    }
  }
$draw$  if (first + per <= count) {
#pragma unroll
    for (int p = 0; p < per / width; ++p) storePack(to + first + p * width, packs[p]);
  } else {
#pragma unroll
    for (int i = 0; i < per; ++i) {
      if (first + i < count) to[first + i] = packs[i / width].at[i % width];
    }
  }
}
)";

// For the whole tensor, and for a part whose elements are consecutive in it from a multiple of 4 on: one
// Philox block for every four elements.
constexpr std::string_view blocksText = R"(#pragma unroll
  for (int group = 0; group < per / 4; ++group) {
    const Words words = drawn(u64(first) / 4 + u64(group)$base$, u64(step[0]));
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      Element& element = packs[(group * 4 + w) / width].at[(group * 4 + w) % width];
      element = stored<Element>(words.word[w] < $threshold$u ? Real(0) : Real(valueOf(element)) * Real($factor$));
    }
  }
)";

// For any other part: the linear index in the whole tensor is computed for each element. Neighbours mostly
// use one Philox block, which is drawn once.
constexpr std::string_view placesText = R"(  Words words{};
  u64 drawnBlock = ~u64(0);
#pragma unroll
  for (int i = 0; i < per; ++i) {
    u64 rest = u64(first) + u64(i), place = 0;
$place$    if (place / 4 != drawnBlock) {
      drawnBlock = place / 4;
      words = drawn(drawnBlock, u64(step[0]));
    }
    const u32 low = place % 2 == 0 ? words.word[0] : words.word[1];
    const u32 word = place % 4 < 2 ? low : place % 2 == 0 ? words.word[2] : words.word[3];
    Element& element = packs[i / width].at[i % width];
    element = stored<Element>(word < $threshold$u ? Real(0) : Real(valueOf(element)) * Real($factor$));
  }
)";

std::string drawText(const ops::Dropout& op, const Shape& shape, const DropoutMask& mask) {
  const int64_t base = op.part.indexInWhole(shape, 0);
  const bool blocks = drawsWholeBlocks(op.part, shape);
  return filled(blocks ? blocksText : placesText,
                {{"base", base == 0 ? "" : fmt::format(" + {}ull", base / 4)},
                 {"place", blocks ? "" : placeText(op.part, shape)},
                 {"threshold", fmt::format("{}", mask.threshold)},
                 {"factor", fmt::format("{:a}", mask.factor)}});
}

} // namespace

GeneratedKernels dropoutKernel(const ops::Dropout& op, const TensorType& operand, const GpuShape& gpu) {
  const DropoutMask mask(op.rate, operand.element);
  const int64_t count = operand.shape.elements(), width = packBytes / byteWidth(operand.element);
  const int64_t per = std::max<int64_t>(4, width), groups = ceilDiv(count, per);
  const int64_t threads = groups < gpu.multiprocessors * 256 ? 64 : 256;
  const IndexText index(count + threads * per);
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\nusing Real = {};\n", index.type(),
                  storageName(operand.element), operand.element == ElementType::F64 ? "f64" : "f32") +
      constant("Index", "count", index.of(count)) + constant("width", width) + constant("per", per) +
      constant("threads", threads) + randomWordsText(op.seed) +
      filled(dropoutText, {{"draw", drawText(op, operand.shape, mask)}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(groups, threads));
  launch.threads = static_cast<uint32_t>(threads);
  launch.singlePass = true;
  launch.arguments = {
      {Argument::From::Operand, 0, 0}, {Argument::From::Operand, 1, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
