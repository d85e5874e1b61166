// The text of attention kernels: the same every time, with launches that the GPU takes at every width,
// compiled by NVRTC for sm_80 and sm_90 without a warning and without spilled registers. Their values:
// tests/conformance and tests/cuda.
#include "compiler/lower/kernels/attention/attention.h"
#include "compiler/lower/kernels/attention/attention_split_keys.h"
#include "compiler/lower/kernels/attention/attention_tile.h"
#include "compiler/lower/kernels/kernel_text.h"
#include "tests/runtime/cuda/nvrtc_compile.h"
#include "tests/support/attention/attention_reference.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::cuda;
using namespace dfc::test;

namespace {

constexpr std::pair<ElementType, bool> elements[] = {{ElementType::BF16, false},
                                                     {ElementType::F16, false},
                                                     {ElementType::F32, true},
                                                     {ElementType::F32, false}};
constexpr AttentionPass passes[] = {AttentionPass::Forward, AttentionPass::QueryGradient,
                                    AttentionPass::KeyGradient};
const GpuShape large{132, 2048, 227 * 1024};

AttentionProblem problemOf(std::pair<ElementType, bool> element, int64_t width) {
  AttentionProblem p;
  p.element = element.first;
  p.tf32 = element.second;
  p.batch = 8;
  p.heads = p.keyHeads = 12;
  p.queries = p.keys = 1024;
  p.width = p.valueWidth = width;
  p.scale = 0.125;
  return p;
}

void checkLaunches(const AttentionProblem& problem, const GpuShape& gpu) {
  for (const AttentionPass pass : passes) {
    const AttentionTile tile = attentionTile(problem, pass, gpu);
    CHECK(tile.sharedBytes(problem, pass) <= gpu.sharedBytesPerBlock);
    CHECK(tile.warps * 32 <= 1024);
    CHECK(tile.columns % tile.chunk == 0);
  }
}

/// The problem in turn: causal; masked, with groups; odd sizes and another width of values.
AttentionProblem variantOf(AttentionProblem problem, size_t number) {
  problem.causal = number % 3 == 0;
  if (number % 3 == 1) {
    problem.keyHeads = 4;
    problem.maskStrides = maskStrides(problem, {true, false, true, true});
  }
  if (number % 3 == 2) {
    problem.queries = 1021;
    problem.keys = 517;
    problem.valueWidth = std::max<int64_t>(1, problem.width - 3);
  }
  return problem;
}

void checkCompiles(const AttentionProblem& problem, const std::string& architecture, bool mayAlsoSpill) {
  for (const AttentionPass pass : passes) {
    const AttentionTile tile = attentionTile(problem, pass, large);
    CAPTURE(describe(problem), static_cast<int>(pass), architecture);
    const CompiledKernel kernel = compiledKernel(
        std::string(prelude()) + kernelText(attentionLaunch(problem, pass, tile)), architecture);
    CHECK(kernel.warnings == "");
    CHECK((mayAlsoSpill || kernel.spilledBytes == 0));
  }
}

} // namespace

TEST_CASE("attention kernels exist by types, widths and elements") {
  CHECK(attentionKernelExists(problemOf(elements[0], 256)));
  CHECK_FALSE(attentionKernelExists(problemOf(elements[0], 257)));
  CHECK_FALSE(attentionKernelExists(problemOf(elements[0], 0)));
  CHECK_FALSE(attentionKernelExists(problemOf({ElementType::F64, false}, 64)));
  CHECK_FALSE(attentionKernelExists(problemOf({ElementType::BF16, true}, 64)));
  AttentionProblem uneven = problemOf(elements[0], 64);
  uneven.keyHeads = 5;
  CHECK_FALSE(attentionKernelExists(uneven));
}

TEST_CASE("attention launches fit every GPU's shared memory at every width, with the same text every time") {
  for (const auto& element : elements) {
    for (int64_t width = 1; width <= 256; ++width) {
      AttentionProblem problem = problemOf(element, width);
      checkLaunches(problem, large);
      checkLaunches(problem, GpuShape::assumed());
      problem.valueWidth = 257 - width;
      checkLaunches(problem, GpuShape::assumed());
    }
    const GeneratedKernels forward = attentionKernels(problemOf(element, 64), large),
                           gradient = attentionGradientKernels(problemOf(element, 64), large);
    CHECK(forward.launches[0].code == attentionKernels(problemOf(element, 64), large).launches[0].code);
    CHECK(forward.launches.size() == 1);
    CHECK(forward.launches[0].arguments.size() == 5); // q, k, v; o, logSumExp
    CHECK(gradient.launches.size() == 2);
    CHECK(gradient.launches[0].arguments.size() == 8); // six operands; dk, dv
    CHECK(gradient.launches[1].arguments.size() == 7); // six operands; dq
  }
}

TEST_CASE("a launch of much shared memory has it from the launch, one of little from its kernel") {
  const AttentionProblem problem = problemOf(elements[0], 64);
  for (const AttentionTile& tile : attentionTiles(problem, AttentionPass::Forward)) {
    const GeneratedLaunch launch = attentionLaunch(problem, AttentionPass::Forward, tile);
    const bool dynamic = launch.sharedBytes > 48 * 1024;
    CHECK(launch.dynamicSharedBytes() == (dynamic ? launch.sharedBytes : 0));
    CHECK((kernelText(launch).find("extern __shared__") != std::string::npos) == dynamic);
  }
}

TEST_CASE("NVRTC compiles attention kernels of the usual widths without a warning or a spilled register") {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  size_t number = 0; // each type with one width: the heavy test below has them all
  for (const auto& element : elements) {
    const int64_t width = number % 2 == 0 ? 64 : 128;
    checkCompiles(variantOf(problemOf(element, width), number++ / 2 % 2), "sm_90", false);
  }
}

TEST_CASE("NVRTC compiles attention of few queries without a warning or a spilled register") {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  for (const auto& element : {elements[0], elements[3]}) {
    for (const int64_t width : {64, 128}) {
      AttentionProblem problem = problemOf(element, width);
      problem.batch = problem.queries = 1;
      problem.maskStrides = maskStrides(problem, {false, false, false, true});
      for (const int64_t keyHeads : {12, 3}) {
        problem.keyHeads = keyHeads;
        const auto split = SplitKeys::of(problem, large);
        REQUIRE(split);
        CAPTURE(describe(problem));
        for (const GeneratedLaunch& launch : splitKeysKernels(problem, *split).launches) {
          const CompiledKernel kernel = compiledKernel(std::string(prelude()) + kernelText(launch), "sm_90");
          CHECK(kernel.warnings == "");
          CHECK(kernel.spilledBytes == 0);
        }
      }
    }
  }
}

TEST_CASE("NVRTC compiles attention kernels of all widths for sm_80 and sm_90", "[heavy]") {
  if (!compilesHere()) {
    DFC_SKIP("NVRTC is not on this machine");
  }
  size_t number = 0;
  for (const auto& element : elements) {
    for (const int64_t width : {1, 8, 24, 40, 64, 80, 96, 128, 192, 256}) {
      for (const char* architecture : {"sm_80", "sm_90"}) {
        for (size_t variant = 0; variant < (width == 64 || width == 128 ? 3 : 1); ++variant) {
          checkCompiles(variantOf(problemOf(element, width), number + variant), architecture,
                        (width != 64 && width != 128) || (number + variant) % 3 == 2);
        }
      }
      ++number;
    }
  }
}
