// A fused body gives, bit for bit, what its ops give one after the other: over types, broadcasts and
// reductions.
#include "ir/graph/fused_instruction.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

namespace dfc::testing {
namespace {

using Reduction = ops::Fused::Reduction;

OpAttributes reductionOf(const ops::Fused& fused) {
  switch (fused.reduction) {
  case Reduction::Sum: return ops::ReduceSum{{}, fused.axes, fused.keepDims};
  case Reduction::Mean: return ops::ReduceMean{{}, fused.axes, fused.keepDims};
  default: return ops::ReduceMax{{}, fused.axes, fused.keepDims};
  }
}

// The ops of the body one by one, then the reduction.
Literal unfused(const ops::Fused& fused, std::vector<Literal> registers) {
  std::vector<TensorType> operands;
  for (const Literal& operand : registers) {
    operands.push_back(operand.type());
  }
  const Shape common = *ops::Fused::commonShape(operands);
  for (const ops::FusedInstruction& instruction : fused.body.instructions) {
    std::vector<Literal> inputs;
    for (const uint32_t input : instruction.inputs) {
      inputs.push_back(registers[input]);
    }
    registers.push_back(runKernel(opOf(instruction), inputs));
  }
  Literal last = registers.back();
  if (!(last.type().shape == common)) {
    ops::Broadcast stretch;
    stretch.shape = Dims(common.dims().begin(), common.dims().end());
    last = runKernel(stretch, {last});
  }
  return fused.reduction == Reduction::None ? last : runKernel(reductionOf(fused), {last});
}

ops::Fused fusedOf(const std::string& body, Reduction reduction = Reduction::None, const Dims& axes = {}) {
  ops::Fused fused;
  REQUIRE(fused.body.decode(body));
  fused.reduction = reduction;
  fused.axes = axes;
  return fused;
}

// A bias, a nonlinearity and a scale; a long body that needs several tiles at once; one that ends in its
// input.
const std::vector<std::string> bodies = {
    "add:T %0 %1; relu:T %3; mul:T %4 %2",
    "mul:T %0 %0; mul:T %1 %1; add:T %3 %4; div:T %3 %2; sub:T %6 %5; max:T %7 %4; min:T %8 %3; add:T %9 %9",
    "compare.lt:bool %0 %1; neg:T %0; select:T %3 %4 %2",
    "add:T %2 %2; sub:T %3 %2",
    "clip:T %0 %1 %2; abs:T %3; sign:T %0; mul:T %4 %5; max:T %6 %0",
};
const std::vector<std::string> floatBodies = {
    "sigmoid:T %0; tanh:T %1; mul:T %3 %4; exp:T %5; add:T %6 %2",
    "cast:f64 %0; exp:f64 %3; cast:T %4; cast:i32 %1; cast:T %6; add:T %5 %7; mul:T %8 %2",
    "cast:f16 %0; cast:bf16 %3; cast:f32 %4; cast:bool %5; cast:T %6",
    "gelu:T %0; gelu.tanh:T %0; sub:T %3 %4; silu:T %1; clip:T %5 %6 %2; leakyRelu:T %7 %0; erf:T %8",
    "abs:T %0; pow:T %3 %1; softplus:T %0; rsqrt:T %5; sin:T %4; cos:T %6; add:T %7 %8; round:T %9",
    "compare.lt:bool %0 %1; compare.gt:bool %0 %2; or:bool %3 %4; not:bool %5; select:T %6 %0 %1",
};

void checkBody(const std::string& body, ElementType type, const Shape& a, const Shape& b, const Shape& c) {
  const std::vector<Literal> operands = {randomLiteral({type, a}, 31, -3, 3),
                                         randomLiteral({type, b}, 32, -3, 3),
                                         randomLiteral({type, c}, 33, 1, 3)};
  const std::string text = test::withType(body, type);
  INFO(text << " over " << toString(a) << " " << toString(b) << " " << toString(c));
  const ops::Fused plain = fusedOf(text);
  CHECK(runKernel(plain, operands) == unfused(plain, operands));
  const size_t rank = std::max({a.rank(), b.rank(), c.rank()});
  for (int64_t axis = 0; axis < static_cast<int64_t>(rank); ++axis) {
    const ops::Fused sum = fusedOf(text, Reduction::Sum, {axis});
    CHECK(runKernel(sum, operands) == unfused(sum, operands));
    const ops::Fused max = fusedOf(text, Reduction::Max, {axis});
    CHECK(runKernel(max, operands) == unfused(max, operands));
    if (isFloat(type)) {
      const ops::Fused mean = fusedOf(text, Reduction::Mean, {axis});
      CHECK(runKernel(mean, operands) == unfused(mean, operands));
    }
  }
}

void checkShapes(const std::string& body, ElementType type) {
  checkBody(body, type, {7}, {7}, {});
  checkBody(body, type, {3, 700}, {700}, {3, 1});
  checkBody(body, type, {5, 1, 33}, {4, 1}, {4, 33});
  checkBody(body, type, {2050}, {1}, {2050});
}

} // namespace

TEST_CASE("fused bodies give the bits of their ops, for every number type") {
  for (const ElementType type : allElementTypes) {
    if (type == ElementType::Bool) {
      continue;
    }
    for (const std::string& body : bodies) {
      checkShapes(body, type);
    }
  }
}

TEST_CASE("fused bodies of float functions and casts give the bits of their ops") {
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    for (const std::string& body : floatBodies) {
      checkShapes(body, type);
    }
  }
}

TEST_CASE("a fused body runs in place of each operand of its result's type") {
  const std::vector<Literal> operands = {randomLiteral(f32({3, 1030}), 34), randomLiteral(f32({3, 1030}), 35),
                                         randomLiteral(f32({1030}), 36)};
  const ops::Fused fused =
      fusedOf("add:f32 %0 %1; sigmoid:f32 %3; mul:f32 %4 %0; div:f32 %5 %2; add:f32 %6 %1");
  const Literal apart = runKernel(fused, operands);
  CHECK(runKernelInPlace(fused, operands, 0) == apart);
  CHECK(runKernelInPlace(fused, operands, 1) == apart);
  const std::vector<Literal> halves = {randomLiteral({ElementType::BF16, {2000}}, 37),
                                       randomLiteral({ElementType::BF16, {2000}}, 38)};
  const ops::Fused half = fusedOf("mul:bf16 %0 %1; add:bf16 %2 %0");
  CHECK(runKernelInPlace(half, halves, 0) == runKernel(half, halves));
}

TEST_CASE("a fused body gives the same bits with one thread and with three") {
  const std::vector<Literal> operands = {randomLiteral(f32({500, 600}), 39), randomLiteral(f32({600}), 40)};
  for (const auto& fused :
       {fusedOf("add:f32 %0 %1; tanh:f32 %2"), fusedOf("add:f32 %0 %1; tanh:f32 %2", Reduction::Sum, {0, 1}),
        fusedOf("add:f32 %0 %1; tanh:f32 %2", Reduction::Mean, {1})}) {
    CHECK(runKernel(fused, operands, 1) == runKernel(fused, operands, 3));
  }
}

} // namespace dfc::testing
