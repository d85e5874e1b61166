// Consecutive instructions of a fused body in one pass: the bits of the ops one by one.
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/typed_body.h"

#include <limits>

namespace dfc::testing {
namespace {

ops::Fused fused(const std::string& body) {
  ops::Fused op;
  REQUIRE(op.body.decode(test::withType(body, ElementType::F32)));
  return op;
}

// Numbers with zeros of both signs, infinities and NaN among them.
Literal withSpecials(const Shape& shape, uint32_t seed) {
  Literal drawn = randomLiteral({ElementType::F32, shape}, seed, -3, 3);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {0., -0., infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  for (int64_t i = seed % 3; i < shape.elements(); i += 3) {
    drawn.set(i, specials[static_cast<size_t>(i / 3) % 5]);
  }
  return drawn;
}

/// The operand that a register of these bodies names, or the value of an earlier op.
using Registers = std::vector<Literal>;

Literal one(const OpAttributes& op, const Registers& values, std::initializer_list<size_t> inputs) {
  std::vector<Literal> operands;
  for (const size_t input : inputs) {
    operands.push_back(values[input]);
  }
  return runKernel(op, operands);
}

} // namespace

TEST_CASE("chains of instructions give the bits of the ops one by one") {
  for (const int64_t columns : {1, 7, 64, 1000, 3001}) {
    const Registers x = {withSpecials({3, columns}, 50), withSpecials({columns}, 51),
                         withSpecials({3, columns}, 52), literalOf(ElementType::F32, {}, {-0.5}),
                         literalOf(ElementType::F32, {}, {2})};
    INFO(columns);
    Registers v = x; // add:T %0 %1; clip:T %5 %3 %4
    v.push_back(one(ops::Add{}, v, {0, 1}));
    CHECK(bitsOf(runKernel(fused("add:T %0 %1; clip:T %5 %3 %4"), x)) ==
          bitsOf(one(ops::Clip{}, v, {5, 3, 4})));
    v = x;
    v.push_back(one(ops::Sub{}, v, {1, 0}));
    v.push_back(one(ops::Mul{}, v, {2, 5}));
    v.push_back(one(ops::Maximum{}, v, {6, 2}));
    v.push_back(one(ops::Minimum{}, v, {0, 7}));
    CHECK(bitsOf(runKernel(fused("sub:T %1 %0; mul:T %2 %5; max:T %6 %2; min:T %0 %7; relu:T %8"), x)) ==
          bitsOf(one(ops::Relu{}, v, {8})));
    // The value is read twice, so that the chain ends at it; bounds that are tensors, and NaN for one.
    v = x;
    v.push_back(one(ops::Add{}, v, {0, 2}));
    v.push_back(one(ops::Mul{}, v, {5, 5}));
    v.push_back(one(ops::Sub{}, v, {6, 5}));
    CHECK(bitsOf(runKernel(fused("add:T %0 %2; mul:T %5 %5; sub:T %6 %5; clip:T %7 %1 %2"), x)) ==
          bitsOf(one(ops::Clip{}, v, {7, 1, 2})));
    v = x;
    v[4] = literalOf(ElementType::F32, {}, {std::numeric_limits<double>::quiet_NaN()});
    const std::vector<Literal> withNaN = v;
    v.push_back(one(ops::Add{}, v, {0, 1}));
    CHECK(bitsOf(runKernel(fused("add:T %0 %1; clip:T %5 %3 %4"), withNaN)) ==
          bitsOf(one(ops::Clip{}, v, {5, 3, 4})));
  }
}

TEST_CASE("chains longer than one pass, and in place") {
  std::string body = "add:T %0 %1";
  Registers v = {withSpecials({5, 333}, 53), withSpecials({333}, 54)};
  const std::vector<Literal> x = v;
  v.push_back(one(ops::Add{}, v, {0, 1}));
  for (size_t i = 2; i < 21; ++i) {
    body += (i % 2 == 0 ? "; mul:T %" : "; sub:T %") + std::to_string(i) + " %1";
    v.push_back(i % 2 == 0 ? one(ops::Mul{}, v, {i, 1}) : one(ops::Sub{}, v, {i, 1}));
  }
  CHECK(bitsOf(runKernel(fused(body), x)) == bitsOf(v.back()));
  CHECK(bitsOf(runKernelInPlace(fused(body), x, 0)) == bitsOf(v.back()));
}

} // namespace dfc::testing
