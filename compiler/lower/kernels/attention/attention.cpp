#include "compiler/lower/kernels/attention/attention.h"

#include "compiler/lower/kernels/attention/attention_split_keys.h"
#include "compiler/lower/kernels/attention/attention_texts.h"
#include "compiler/lower/kernels/attention/attention_tile.h"
#include "compiler/lower/kernels/code.h"
#include "ir/base/assert.h"
#include "ir/graph/rules/attention_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int64_t mostWidth = 256;

std::string boolConstant(std::string_view name, bool value) {
  return constant("bool", name, value ? "true" : "false");
}

std::string wideConstant(std::string_view name, int64_t value) {
  return constant("i64", name, fmt::format("{}ll", value));
}

// A struct of the text with the strides of one tensor (AttentionRows) as constants: `row`, and `at`, the
// offset of a row of a head.
std::string rowsConstant(std::string_view name, const AttentionRows& rows) {
  return fmt::format(
      "struct {} {{\n  static constexpr i64 row = {}ll;\n"
      "  DFC_INLINE static i64 at(int batch, int head, int first) {{\n"
      "    return {}ll + i64(batch) * {}ll + i64(head) * {}ll + i64(first) * row;\n  }}\n}};\n",
      name, rows.row, rows.first, rows.batch, rows.head);
}

std::string constantsOfTile(const AttentionProblem& problem, const AttentionTile& tile) {
  return constant("warps", tile.warps) + constant("rowTiles", tile.rowTiles) +
         constant("columns", tile.columns) + constant("stages", tile.stages) + constant("kept", tile.kept) +
         constant("widthStep", widthStep(problem, tile));
}

std::string textOfPass(AttentionPass pass, const AttentionTile& tile) {
  if (pass == AttentionPass::Forward) {
    return std::string(attentionForwardText);
  }
  const bool ofQueries = pass == AttentionPass::QueryGradient;
  return constant("chunk", tile.chunk) + constant("parts", tile.parts) +
         boolConstant("ofQueries", ofQueries) + std::string(attentionGradientText) +
         std::string(ofQueries ? attentionQueryGradientText : attentionKeyGradientText);
}

std::string_view operandParameters(AttentionPass pass) {
  return pass == AttentionPass::Forward ? "const Element* q, const Element* k, const Element* v, "
                                        : "const Element* q, const Element* k, const Element* v, const "
                                          "Element* cotangent, const f32* logSumExp, const f32* delta, ";
}

std::string_view resultParameters(AttentionPass pass) {
  switch (pass) {
  case AttentionPass::Forward: return "Element* first, f32* second, ";
  case AttentionPass::QueryGradient: return "Element* first, ";
  case AttentionPass::KeyGradient: return "Element* first, Element* second, ";
  }
  DFC_ASSERT(false, "no such pass");
}

std::string textOfRun(AttentionPass pass, bool masked) {
  return filled(
      "DFC_INLINE void run($operands$$mask$$results$const Block& block, Shared& shared) {\n"
      "  attend($given$, $visible$, first$second$, block, shared);\n}\n",
      {{"operands", std::string(operandParameters(pass))},
       {"mask", masked ? "const u8* mask, " : ""},
       {"results", std::string(resultParameters(pass))},
       {"given", pass == AttentionPass::Forward ? "q, k, v" : "q, k, v, cotangent, logSumExp, delta"},
       {"visible", masked ? "mask" : "static_cast<const u8*>(nullptr)"},
       {"second", pass == AttentionPass::QueryGradient ? "" : ", second"}});
}

llvm::SmallVector<Argument, 4> attentionArguments(const AttentionProblem& problem, AttentionPass pass) {
  llvm::SmallVector<Argument, 4> arguments;
  const uint32_t operands = (pass == AttentionPass::Forward ? 3 : 6) + (problem.maskStrides ? 1 : 0);
  for (uint32_t operand = 0; operand < operands; ++operand) {
    arguments.push_back({Argument::From::Operand, operand});
  }
  const uint32_t firstResult = pass == AttentionPass::KeyGradient ? 1 : 0;
  for (uint32_t result = 0; result < (pass == AttentionPass::QueryGradient ? 1U : 2U); ++result) {
    const bool one = problem.layout == AttentionLayout::Packed && pass != AttentionPass::Forward;
    arguments.push_back({Argument::From::Result, one ? 0 : firstResult + result});
  }
  return arguments;
}

} // namespace

std::string constantsOfRows(const AttentionProblem& problem) {
  const AttentionStrides at = attentionStrides(problem);
  return fmt::format("using Element = {};\n", storageName(problem.element)) +
         constant("heads", problem.heads) + constant("keyHeads", problem.keyHeads) +
         constant("queries", problem.queries) + constant("valueWidth", problem.valueWidth) +
         rowsConstant("ofO", at.o) + rowsConstant("ofStatistics", at.statistics) +
         constant("f64", "scale", fmt::format("{:.17e}", problem.scale));
}

std::string constantsOfKeys(const AttentionProblem& problem) {
  const AttentionStrides at = attentionStrides(problem);
  const std::array<int64_t, 4> strides = problem.maskStrides.value_or(std::array<int64_t, 4>{});
  return constant("keys", problem.keys) + constant("width", problem.width) +
         boolConstant("causal", problem.causal) + constant("startOfQueries", problem.start) +
         boolConstant("masked", problem.maskStrides.has_value()) + rowsConstant("ofQ", at.q) +
         rowsConstant("ofK", at.k) + rowsConstant("ofV", at.v) + wideConstant("maskBatch", strides[0]) +
         wideConstant("maskHead", strides[1]) + wideConstant("maskQuery", strides[2]) +
         wideConstant("maskKey", strides[3]);
}

bool attentionKernelExists(const AttentionProblem& problem) {
  const bool known = isHalf(problem.element) ? !problem.tf32 : problem.element == ElementType::F32;
  const int64_t most = int64_t{1} << 30; // rows and heads are counted in 32 bits
  const int64_t heads = problem.batch * problem.heads, rows = std::max(problem.queries, problem.keys);
  const bool counts =
      heads < most && rows < most && problem.start < most && heads * ceilDiv(rows, 16) < most; // and blocks
  const auto inRange = [](int64_t width) { return width >= 1 && width <= mostWidth; };
  return known && counts && inRange(problem.width) && inRange(problem.valueWidth) && problem.batch > 0 &&
         problem.keyHeads > 0 && problem.heads > 0 && problem.heads % problem.keyHeads == 0 &&
         problem.queries > 0 && problem.keys > 0;
}

std::optional<AttentionProblem> attentionProblem(const ops::Attention& op, OperandTypes operands,
                                                 bool masked) {
  const AttentionShape shape = knownAttentionShape(op, operands);
  AttentionProblem problem;
  static_cast<AttentionSizes&>(problem) = shape;
  problem.batch = shape.batches();
  problem.element = operands[0].element;
  problem.tf32 = problem.element == ElementType::F32 && op.precision == Precision::Tf32;
  problem.causal = op.causal;
  problem.scale = op.scaleFor(shape.width);
  if (masked) {
    problem.maskStrides = maskStrides(shape, operands.back().shape);
    if (!problem.maskStrides) {
      return std::nullopt;
    }
  }
  return problem;
}

GeneratedLaunch attentionLaunch(const AttentionProblem& problem, AttentionPass pass,
                                const AttentionTile& tile) {
  DFC_ASSERT(attentionKernelExists(problem), "attention that no kernel computes");
  GeneratedLaunch launch;
  launch.sharedBytes = static_cast<uint32_t>(tile.sharedBytes(problem, pass));
  launch.code = constantsOfRows(problem) + constantsOfKeys(problem) + constant("batch", problem.batch) +
                boolConstant("tf32", problem.tf32) + constantsOfTile(problem, tile) +
                std::string(tileMemoryText) +
                std::string(onTensorCores(problem) ? tensorCoresText : plainProductsText) +
                std::string(attentionScoresText) + textOfPass(pass, tile) +
                fmt::format("static_assert(sizeof(Shared) == {});\n", launch.sharedBytes) +
                textOfRun(pass, problem.maskStrides.has_value());
  launch.grid[0] = static_cast<uint32_t>(tile.blocks(problem, pass));
  launch.threads = static_cast<uint32_t>(tile.warps * 32);
  launch.minBlocksPerMultiprocessor = static_cast<uint32_t>(tile.minBlocks);
  launch.barriers = true;
  launch.arguments = attentionArguments(problem, pass);
  return launch;
}

GeneratedKernels attentionKernels(const AttentionProblem& problem, const GpuShape& gpu) {
  constexpr AttentionPass pass = AttentionPass::Forward;
  if (const auto split = SplitKeys::of(problem, gpu)) {
    return splitKeysKernels(problem, *split);
  }
  return {{attentionLaunch(problem, pass, attentionTile(problem, pass, gpu))}, 0};
}

GeneratedKernels attentionGradientKernels(const AttentionProblem& problem, const GpuShape& gpu) {
  GeneratedKernels work;
  for (const AttentionPass pass : {AttentionPass::KeyGradient, AttentionPass::QueryGradient}) {
    work.launches.push_back(attentionLaunch(problem, pass, attentionTile(problem, pass, gpu)));
  }
  return work;
}

} // namespace dfc::cuda
