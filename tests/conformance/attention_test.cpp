// Attention kernels, their text run on the host, against attention in f64: every type, with and without
// groups of heads, masks (rows that see no key among them) and causal order, at sizes and widths with
// remainders.
#include "compiler/interpreter/evaluate.h"
#include "compiler/lower/kernels/attention/attention.h"
#include "compiler/lower/kernels/attention/attention_split_keys.h"
#include "tests/conformance/emulated_kernels.h"
#include "tests/support/attention/attention_in_layouts.h"
#include "tests/support/attention/attention_reference.h"
#include "tests/support/catch.h"

using namespace dfc;
using namespace dfc::test;
using cuda::AttentionProblem;

namespace {

AttentionProblem problemOf(ElementType element, bool tf32, int64_t queries, int64_t keys, int64_t width,
                           int64_t valueWidth) {
  AttentionProblem p;
  p.element = element;
  p.tf32 = tf32;
  p.queries = queries;
  p.keys = keys;
  p.width = width;
  p.valueWidth = valueWidth;
  p.scale = 0.37;
  return p;
}

std::vector<AttentionProblem> problemsOf(ElementType element, bool tf32) {
  std::vector<AttentionProblem> all;
  all.push_back(problemOf(element, tf32, 70, 150, 64, 64));
  all.push_back(problemOf(element, tf32, 33, 20, 24, 40));
  all.back().causal = true;
  all.back().heads = 4, all.back().keyHeads = 2;
  all.push_back(problemOf(element, tf32, 37, 67, 7, 12));
  all.back().batch = 2;
  all.back().maskStrides = maskStrides(all.back(), {true, false, true, true});
  all.push_back(problemOf(element, tf32, 90, 90, 72, 128));
  all.back().causal = true;
  all.back().scale = -0.2;
  all.push_back(problemOf(element, tf32, 20, 35, 200, 130));
  all.back().causal = true;
  all.back().maskStrides = maskStrides(all.back(), {false, false, false, true});
  return all;
}

void check(const std::vector<AttentionProblem>& problems, const GpuShape& gpu) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  std::vector<size_t> forward, backward;
  for (const AttentionProblem& problem : problems) {
    forward.push_back(kernels.add(attentionKernels(problem, gpu)));
    backward.push_back(kernels.add(attentionGradientKernels(problem, gpu)));
  }
  REQUIRE(kernels.build() == "");
  for (size_t i = 0; i < problems.size(); ++i) {
    CAPTURE(describe(problems[i]));
    const AttentionExample example(problems[i], i);
    std::string problem;
    double worst = 0;
    const auto made = kernels.run(forward[i], example.operands(), example.results(), problem);
    CHECK(problem == "");
    CHECK(beyondBounds(example.o, made[0], worst) == "");
    CHECK(beyondBounds(example.ofLogSumExp, made[1], worst) == "");
    const auto gradients =
        kernels.run(backward[i], example.gradientOperands(), example.gradientResults(), problem);
    CHECK(problem == "");
    CHECK(beyondBounds(example.dq, gradients[0], worst) == "");
    CHECK(beyondBounds(example.dk, gradients[1], worst) == "");
    CHECK(beyondBounds(example.dv, gradients[2], worst) == "");
  }
}

void check(ElementType element, bool tf32, const GpuShape& gpu) { check(problemsOf(element, tf32), gpu); }

// Few queries over many keys, as decoding has them: chunks that no row sees, groups of heads, odd widths.
std::vector<AttentionProblem> decodingProblems(ElementType element) {
  std::vector<AttentionProblem> all;
  all.push_back(problemOf(element, false, 1, 300, 64, 64));
  all.back().heads = all.back().keyHeads = 3;
  all.back().maskStrides = maskStrides(all.back(), {false, false, false, true});
  all.push_back(problemOf(element, false, 2, 257, 24, 40));
  all.back().batch = 2;
  all.back().heads = 4, all.back().keyHeads = 2;
  all.push_back(problemOf(element, false, 3, 150, 7, 12));
  all.back().causal = true;
  all.push_back(problemOf(element, false, 1, 130, 200, 130));
  all.back().heads = 8, all.back().keyHeads = 1;
  all.back().scale = -0.2;
  all.back().maskStrides = maskStrides(all.back(), {true, true, true, true});
  return all;
}

llvm::SmallVector<TensorType, 8> typesOf(const std::vector<Literal>& values) {
  llvm::SmallVector<TensorType, 8> types;
  for (const Literal& value : values) {
    types.push_back(value.type());
  }
  return types;
}

// Every bit of heads first.
void checkLayouts(ElementType type, const GpuShape& gpu) {
  if (!EmulatedKernels::unavailable().empty()) {
    DFC_SKIP(EmulatedKernels::unavailable());
  }
  EmulatedKernels kernels;
  const auto added = [&](const OpAttributes& op, const std::vector<Literal>& operands) {
    const auto types = typesOf(operands);
    return kernels.add(*cuda::generateKernels(op, types, resultTypes(op, types).types, gpu));
  };
  struct One {
    AttentionInLayouts example;
    size_t forward[2], gradient[2];
  };
  std::vector<One> all;
  for (const AttentionLayout layout : {AttentionLayout::Rows, AttentionLayout::Packed}) {
    for (const int64_t length : {5, 70}) {
      One& one = all.emplace_back(One{{type, layout, length, length == 5 ? 7 : 8, length == 5}, {}, {}});
      for (const bool moved : {false, true}) {
        const auto made = evaluateOp(one.example.forward(false), one.example.operands(false));
        const std::vector<Literal> results(made.begin(), made.end());
        one.forward[moved] = added(one.example.forward(moved), one.example.operands(moved));
        one.gradient[moved] =
            added(one.example.gradient(moved), one.example.gradientOperands(moved, results));
      }
    }
  }
  REQUIRE(kernels.build() == "");
  for (const One& one : all) {
    const AttentionInLayouts& example = one.example;
    const auto run = [&](size_t kernel, const OpAttributes& op, const std::vector<Literal>& operands) {
      std::string problem;
      auto made = kernels.run(kernel, operands, resultTypes(op, typesOf(operands)).types, problem);
      CHECK(problem == "");
      return made;
    };
    const auto inHeads = run(one.forward[0], example.forward(false), example.operands(false)),
               inLayout = run(one.forward[1], example.forward(true), example.operands(true));
    CHECK(inLayout[0] == example.moved(inHeads[0]));
    CHECK(inLayout[1] == example.movedStatistics(inHeads[1]));
    const auto gradients =
        run(one.gradient[0], example.gradient(false), example.gradientOperands(false, inHeads));
    CHECK(run(one.gradient[1], example.gradient(true), example.gradientOperands(true, inHeads)) ==
          example.joined(gradients));
  }
}

const GpuShape small{1, 1024, 99 * 1024}, large{1, 2048, 227 * 1024};

} // namespace

TEST_CASE("attention kernels: other layouts have the bits of heads first") {
  checkLayouts(ElementType::BF16, large);
  checkLayouts(ElementType::F32, small);
}
TEST_CASE("attention kernels: bf16 agrees with f64") { check(ElementType::BF16, false, large); }
TEST_CASE("attention kernels: f16 agrees with f64, on a GPU of little shared memory") {
  check(ElementType::F16, false, small);
}
TEST_CASE("attention kernels: tf32 agrees with f64") { check(ElementType::F32, true, large); }
TEST_CASE("attention kernels: tf32 agrees with f64, on a GPU of little shared memory") {
  check(ElementType::F32, true, small);
}
TEST_CASE("attention kernels: f32 agrees with f64") { check(ElementType::F32, false, large); }
TEST_CASE("attention kernels: few queries agree with f64, their keys split among blocks") {
  const GpuShape many{64, 2048, 227 * 1024};
  for (const ElementType element : {ElementType::F32, ElementType::BF16}) {
    const std::vector<AttentionProblem> problems = decodingProblems(element);
    for (const AttentionProblem& problem : problems) {
      const auto split = cuda::SplitKeys::of(problem, many);
      REQUIRE(split);
      CHECK(split->splits > 1);
    }
    check(problems, many);
  }
}
TEST_CASE("attention kernels: keys are split for few queries alone, and where blocks lack") {
  AttentionProblem problem = problemOf(ElementType::F32, false, 1, 1024, 64, 64);
  const GpuShape many{132, 2048, 227 * 1024};
  CHECK(cuda::SplitKeys::of(problem, many));
  problem.queries = 17;
  CHECK_FALSE(cuda::SplitKeys::of(problem, many)); // tiles of queries
  problem.queries = 1;
  problem.batch = 512;
  CHECK_FALSE(cuda::SplitKeys::of(problem, many)); // a block a sequence fills the GPU
  problem.batch = 1;
  problem.keys = 40;
  CHECK_FALSE(cuda::SplitKeys::of(problem, many));
}
