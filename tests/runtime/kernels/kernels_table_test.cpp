// The whole op table: every op that computes has a cpu kernel for every element type that its rule takes, and
// every other op has none. An op added to ops.def without a kernel, or without operands here, fails.
#include "ir/author/decompositions.h"
#include "ir/machine/kernel_claims.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/op_samples.h"

namespace dfc::testing {
namespace {

bool computes(OpKind kind) {
  const OpClass opClass = classOf(kind);
  return opClass != OpClass::Source && opClass != OpClass::Transfer && opClass != OpClass::Request &&
         opClass != OpClass::Custom;
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
      const test::OpSample example = test::sampleOf(kind, type);
      if (!resultTypes(example.attributes, example.operands).ok()) {
        CHECK(!hasCpuKernel(example.attributes, example.operands, {}));
        continue;
      }
      ++taken;
      CHECK((!isComposite(kind) || classOf(kind) == OpClass::View ||
             claimsKernel(DeviceKind::Cpu, example.attributes, example.operands)));
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
