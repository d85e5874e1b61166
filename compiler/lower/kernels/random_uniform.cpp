// randomUniform: each thread draws whole Philox blocks for four neighbouring elements. The numbers are those
// of ir/graph/rules/uniform_number.h.
#include "compiler/lower/kernels/families.h"
#include "compiler/lower/kernels/random_text.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

constexpr std::string_view uniformText = R"(
struct Shared {};
DFC_INLINE void run(const i64* step, Element* to, const Block& block, Shared&) {
  const Index first = (Index(block.x) * threads + threadIdx.x) * 4;
  if (first >= count) return;
$draw$}
)";

constexpr std::string_view uniformBlockText =
    R"(  const Words words = drawn(u64(first) / 4$base$, u64(step[0]));
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if (first + w < count) to[first + w] = numberOf(words.word[w]);
  }
)";

// The linear index in the whole tensor is computed for each element.
constexpr std::string_view uniformPlacesText = R"(#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if (first + w >= count) break;
    u64 rest = u64(first) + u64(w), place = 0;
$place$    to[first + w] = numberOf(drawn(place / 4, u64(step[0])).word[place % 4]);
  }
)";

// Exact in every step: 24 bits of an f32, 33 of an f64.
constexpr std::string_view floatText =
    "DFC_INLINE f32 numberOf(u32 word) { return f32((word >> 9) * 2u + 1u) * 0x1p-24f; }\n";
constexpr std::string_view doubleText =
    "DFC_INLINE f64 numberOf(u32 word) { return (f64(word) + 0.5) * 0x1p-32; }\n";

std::string uniformDrawText(const ops::RandomUniform& op) {
  if (!drawsWholeBlocks(op.part, op.type.shape)) {
    return filled(uniformPlacesText, {{"place", placeText(op.part, op.type.shape)}});
  }
  const int64_t base = op.part.indexInWhole(op.type.shape, 0) / 4;
  return filled(uniformBlockText, {{"base", base == 0 ? "" : fmt::format(" + {}ull", base)}});
}

} // namespace

GeneratedKernels randomUniformKernel(const ops::RandomUniform& op, const GpuShape& gpu) {
  const int64_t count = op.type.shape.elements(), groups = ceilDiv(count, 4);
  const int64_t threads = groups < gpu.multiprocessors * 256 ? 64 : 256;
  const IndexText index(count + threads * 4);
  GeneratedLaunch launch;
  launch.code =
      fmt::format("using Index = {};\nusing Element = {};\n", index.type(), storageName(op.type.element)) +
      constant("Index", "count", index.of(count)) + constant("threads", threads) + randomWordsText(op.seed) +
      std::string(op.type.element == ElementType::F64 ? doubleText : floatText) +
      filled(uniformText, {{"draw", uniformDrawText(op)}});
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(groups, threads));
  launch.threads = static_cast<uint32_t>(threads);
  launch.singlePass = true;
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
