// The whole op table: every op that computes has a cpu kernel for every element type that its rule takes, and
// every other op has none. An op added to ops.def without a kernel, or without operands here, fails.
#include "tests/runtime/kernel_testing.h"
#include "tests/support/catch.h"

namespace dfc::testing {
namespace {

struct Example {
  OpAttributes attributes;
  std::vector<TensorType> operands;
};

bool computes(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass != OpClass::Source && opClass != OpClass::Transfer && opClass != OpClass::Request;
}

// A valid use of the op on [4, 6] (or what else it asks for) of a type; its rule decides whether it takes it.
Example exampleOf(OpKind kind, ElementType type) {
  const TensorType matrix{type, {4, 6}};
  OpAttributes attributes = defaultAttributes(kind);
  std::vector<TensorType> operands(arityOf(kind).least, matrix);
  switch (kind) {
  case OpKind::Matmul: operands[1].shape = {6, 4}; break;
  case OpKind::Select: operands[0].element = ElementType::Bool; break;
  case OpKind::Fused: (void)std::get<ops::Fused>(attributes).body.decode("cast:f32 %0; relu:f32 %1"); break;
  case OpKind::FusedMatmul:
    operands[1].shape = {6, 4};
    (void)std::get<ops::FusedMatmul>(attributes).body.decode("cast:f32 %0; relu:f32 %1");
    break;
  case OpKind::SoftmaxCrossEntropy:
  case OpKind::SoftmaxCrossEntropyGradient: operands[1] = i32({4}); break;
  case OpKind::Reshape: std::get<ops::Reshape>(attributes).shape = {3, 8}; break;
  case OpKind::Broadcast: std::get<ops::Broadcast>(attributes).shape = {2, 4, 6}; break;
  case OpKind::Slice:
    std::get<ops::Slice>(attributes).starts = {1, 0};
    std::get<ops::Slice>(attributes).ends = {3, 6};
    break;
  case OpKind::Pad:
    std::get<ops::Pad>(attributes).low = {1, 0};
    std::get<ops::Pad>(attributes).high = {0, 2};
    break;
  default: break;
  }
  if (kind == OpKind::SoftmaxCrossEntropyGradient) {
    operands[2].shape = Shape{};
  }
  return {attributes, operands};
}

} // namespace

TEST_CASE("every op that computes has a kernel for every element type it takes") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (!computes(kind)) {
      continue;
    }
    size_t taken = 0;
    for (const ElementType type : allElementTypes) {
      const Example example = exampleOf(kind, type);
      if (!resultTypes(example.attributes, example.operands).ok()) {
        CHECK(!hasCpuKernel(example.attributes, example.operands, {}));
        continue;
      }
      ++taken;
      INFO(nameOf(kind) << " of " << name(type));
      std::vector<Literal> operands;
      for (const TensorType& operand : example.operands) {
        operands.push_back(randomLiteral(operand, 81, 0, 3));
      }
      (void)runKernel(example.attributes, operands, 2); // checks that the kernel is there and repeats itself
    }
    INFO(nameOf(kind));
    CHECK(taken > 0);
  }
}

TEST_CASE("ops that do not compute have no kernel") {
  ThreadPool pool(1);
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (computes(kind)) {
      continue;
    }
    const std::vector<TensorType> operands(arityOf(kind).least, f32({2}));
    const TensorType result[1] = {f32({2})};
    CHECK(!hasCpuKernel(defaultAttributes(kind), operands, result));
    CHECK(makeCpuKernel(defaultAttributes(kind), operands, result, pool) == nullptr);
  }
}

} // namespace dfc::testing
