#include "compiler/lower/kernels/attention/attention_split_keys.h"

#include "compiler/lower/kernels/attention/attention_texts.h"
#include "compiler/lower/kernels/attention/attention_tile.h"
#include "compiler/lower/kernels/code.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t mostRows = 16, leastChunk = 32, mostChunk = 512;
constexpr int64_t mostHeld = 32; // registers of a thread for values on their way

int64_t rowsOf(const AttentionProblem& problem) { return problem.heads / problem.keyHeads * problem.queries; }

// Elements that a load of 16 bytes may have in every row of q, k and v.
int64_t packOf(const AttentionProblem& problem) {
  const AttentionStrides at = attentionStrides(problem);
  int64_t pack = commonPowerOf2(packBytes / byteWidth(problem.element), {problem.width, problem.valueWidth});
  for (const AttentionRows& rows : {at.q, at.k, at.v}) {
    pack = commonPowerOf2(pack, {rows.first, rows.batch, rows.head, rows.row});
  }
  return pack;
}

int64_t lanesFor(int64_t width, int64_t pack) {
  return std::min<int64_t>(32, powerOf2From(ceilDiv(width, pack)));
}

// Floats of sums for each row: one result a thread times the rows.
int64_t bytesOfPart(const AttentionProblem& problem) { return (ceilDiv(problem.valueWidth, 4) * 4 + 4) * 4; }

std::string constantsOfSplit(const SplitKeys& split) {
  return constant("chunk", split.chunk) + constant("pack", split.pack) +
         constant("keyLanes", split.keyLanes) + constant("valueLanes", split.valueLanes) +
         constant("mostHeld", mostHeld);
}

} // namespace

std::optional<SplitKeys> SplitKeys::of(const AttentionProblem& problem, const GpuShape& gpu) {
  const int64_t rows = rowsOf(problem), heads = problem.batch * problem.keyHeads;
  const AttentionTile tile = attentionTile(problem, AttentionPass::Forward, gpu);
  if (rows > mostRows || problem.keys < 2 * leastChunk ||
      tile.blocks(problem, AttentionPass::Forward) >= gpu.multiprocessors) {
    return std::nullopt;
  }
  SplitKeys split;
  const int64_t wanted = ceilDiv(2 * gpu.multiprocessors, heads);
  split.chunk = std::clamp(ceilDiv(ceilDiv(problem.keys, wanted), leastChunk) * leastChunk, leastChunk,
                           rows > mostRows / 2 ? mostChunk / 2 : mostChunk);
  split.splits = ceilDiv(problem.keys, split.chunk);
  split.pack = packOf(problem);
  split.keyLanes = lanesFor(problem.width, split.pack);
  split.valueLanes = lanesFor(problem.valueWidth, split.pack);
  split.joinThreads = std::clamp<int64_t>(ceilDiv(problem.valueWidth, 32) * 32, 32, 256);
  return split;
}

GeneratedKernels splitKeysKernels(const AttentionProblem& problem, const SplitKeys& split) {
  const int64_t rows = rowsOf(problem), heads = problem.batch * problem.keyHeads;
  const bool masked = problem.maskStrides.has_value();
  const std::string common =
      constantsOfRows(problem) + constant("splits", split.splits) + std::string(attentionChunksText);
  GeneratedLaunch part;
  part.code =
      common + constantsOfKeys(problem) + constantsOfSplit(split) + constant("threads", split.threads) +
      std::string(attentionSplitKeysText) +
      filled("DFC_INLINE void run(const Element* q, const Element* k, const Element* v, $mask$f32* parts, "
             "const Block& block, Shared& shared) {\n  attend(q, k, v, $visible$, parts, block, "
             "shared);\n}\n",
             {{"mask", masked ? "const u8* mask, " : ""},
              {"visible", masked ? "mask" : "static_cast<const u8*>(nullptr)"}});
  part.grid[0] = static_cast<uint32_t>(heads * split.splits);
  part.threads = static_cast<uint32_t>(split.threads);
  part.sharedBytes =
      static_cast<uint32_t>(4 * (rows * split.chunk + split.threads / 32 * problem.valueWidth + rows));
  part.barriers = true;
  for (uint32_t operand = 0; operand < (masked ? 4U : 3U); ++operand) {
    part.arguments.push_back({Argument::From::Operand, operand});
  }
  part.arguments.push_back({Argument::From::Workspace, 0, 0});

  GeneratedLaunch join;
  join.code = common + constant("threads", split.joinThreads) + std::string(attentionJoinKeysText) +
              "DFC_INLINE void run(const f32* parts, Element* o, f32* logSumExp, const Block& block, Shared& "
              "shared) {\n  join(parts, o, logSumExp, block, shared);\n}\n";
  join.grid[0] = static_cast<uint32_t>(heads * rows);
  join.threads = static_cast<uint32_t>(split.joinThreads);
  join.sharedBytes = static_cast<uint32_t>(4 * split.splits);
  join.barriers = true;
  join.arguments = {
      {Argument::From::Workspace, 0, 0}, {Argument::From::Result, 0}, {Argument::From::Result, 1}};
  return {{std::move(part), std::move(join)}, heads * rows * split.splits * bytesOfPart(problem)};
}

} // namespace dfc::cuda
