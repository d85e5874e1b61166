// The kernels under every instruction set that this processor has: what is exact gives the same bits under
// each, and the functions keep their accuracy. (Bits of exp, log, tanh and of f64 products differ between
// processors with and without fused multiply-add.)
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <hwy/targets.h>

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

// The best of `targets` (a mask of Highway's) is used while this lives.
class Only {
 public:
  explicit Only(int64_t targets) { use(targets); }
  Only(const Only&) = delete;
  Only& operator=(const Only&) = delete;
  ~Only() { use(0); } // all that the processor has

 private:
  static void use(int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

std::vector<int64_t> targetsHere() {
  std::vector<int64_t> targets;
  for (int64_t left = hwy::SupportedTargets(); left > 0; left &= left - 1) {
    targets.push_back(left & -left);
  }
  return targets;
}

struct LoopCase {
  OpAttributes attributes;
  std::vector<Literal> operands;
};

ops::Fused fusedOf(const std::string& body, ops::Fused::Reduction reduction) {
  ops::Fused fused;
  REQUIRE(fused.body.decode(body));
  fused.reduction = reduction;
  fused.axes = {1};
  return fused;
}

// Zeros, halves, the neighbours of a half, whole numbers at the end of the fractions, infinities.
Literal edges(ElementType type) {
  const double inf = std::numeric_limits<double>::infinity();
  const double belowHalf = 0.5 - ulp(type, 0.25);
  return literalOf(type, {16},
                   {0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, belowHalf, -belowHalf, 0x1p22 + 0.5, 0x1p23 + 1,
                    -0x1p24, 0x1p52 - 0.5, 0x1p62, isFloat(type) ? inf : 1, isFloat(type) ? -inf : 1});
}

// Ops whose result IEEE 754 and our order of folding fix to the bit.
std::vector<LoopCase> exactCases() {
  std::vector<LoopCase> cases;
  for (const ElementType type : allElementTypes) {
    const Literal a = randomLiteral({type, {37, 71}}, 91, 0, 90), b = randomLiteral({type, {71}}, 92, 1, 9);
    for (const OpKind kind : {OpKind::Add, OpKind::Mul, OpKind::Div, OpKind::Maximum, OpKind::Compare,
                              OpKind::And, OpKind::Xor, OpKind::LeakyRelu}) {
      if (resultTypes(defaultAttributes(kind), {a.type(), b.type()}).ok()) {
        cases.push_back({defaultAttributes(kind), {a, b}});
      }
    }
    const Literal centred = randomLiteral({type, {37, 71}}, 99, -5, 5), edge = edges(type);
    for (const OpKind kind : {OpKind::Not, OpKind::Abs, OpKind::Sign, OpKind::Floor, OpKind::Ceil,
                              OpKind::Round, OpKind::Reciprocal, OpKind::Rsqrt}) {
      if (resultTypes(defaultAttributes(kind), {a.type()}).ok()) {
        cases.push_back({defaultAttributes(kind), {centred}});
        cases.push_back({defaultAttributes(kind), {edge}});
      }
    }
    for (const ElementType to : allElementTypes) {
      ops::Cast cast;
      cast.to = to;
      cases.push_back({cast, {a}});
    }
    if (resultTypes(ops::ReduceSum{}, {a.type()}).ok()) {
      for (const Dims& axes : {Dims{}, Dims{0}, Dims{1}}) {
        cases.push_back({ops::ReduceSum{{}, axes, false}, {a}});
        cases.push_back({ops::ReduceMax{{}, axes, false}, {a}});
      }
    }
    if (isInteger(type)) {
      cases.push_back({ops::Matmul{{}, false, true}, {a, a}});
    }
  }
  const Literal x = randomLiteral(f32({5, 1100}), 93), y = randomLiteral(f32({5, 1}), 94);
  cases.push_back(
      {fusedOf("mul:f32 %0 %1; sqrt:f32 %0; relu:f32 %2; add:f32 %4 %0", ops::Fused::Reduction::Sum),
       {x, y}});
  return cases;
}

void checkNear(OpKind kind, ElementType type, double low, double high, double (*oracle)(double),
               double ulps = 5) {
  const Literal from = randomLiteral({type, {1037}}, 95, low, high);
  INFO(nameOf(kind) << " of " << name(type));
  checkElements(
      runKernel(defaultAttributes(kind), {from}), [&](int64_t i) { return oracle(from.at(i)); }, ulps);
}

double sigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double siluOf(double x) { return x * sigmoidOf(x); }
double softplusOf(double x) { return std::log1p(std::exp(x)); }
double geluOf(double x) { return static_cast<double>(x / 2 * std::erfc(-x * std::sqrt(0.5L))); }

} // namespace

TEST_CASE("exact kernels give the same bits under every instruction set") {
  for (const LoopCase& test : exactCases()) {
    const Literal best = runKernel(test.attributes, test.operands);
    for (const int64_t target : targetsHere()) {
      const Only only(target);
      INFO(nameOf(kindOf(test.attributes))
           << " of " << toString(test.operands[0].type()) << " under " << hwy::TargetName(target));
      CHECK(bitsOf(runKernel(test.attributes, test.operands)) == bitsOf(best));
    }
  }
}

TEST_CASE("transcendental kernels keep their accuracy under every instruction set") {
  for (const int64_t target : targetsHere()) {
    const Only only(target);
    INFO("under " << hwy::TargetName(target));
    for (const ElementType type : {ElementType::F32, ElementType::F64}) {
      checkNear(OpKind::Exp, type, -80, 80, std::exp);
      checkNear(OpKind::Log, type, 1e-3, 1e6, std::log);
      checkNear(OpKind::Tanh, type, -9, 9, std::tanh);
      checkNear(OpKind::Sigmoid, type, -30, 30, sigmoidOf);
      checkNear(OpKind::Silu, type, -30, 30, siluOf);
      checkNear(OpKind::Softplus, type, -30, 30, softplusOf);
      checkNear(OpKind::Erf, type, -3, 3, std::erf, 4);
      checkNear(OpKind::Gelu, type, -12, 12, geluOf, 8);
      checkNear(OpKind::Sin, type, -30000, 30000, std::sin);
      checkNear(OpKind::Cos, type, -3e6, 3e6, std::cos);
    }
  }
}

TEST_CASE("rows and f64 products agree with plain loops under every instruction set") {
  const Literal a = randomLiteral(f64({23, 300}), 96, -1, 1), b = randomLiteral(f64({300, 41}), 97, -1, 1);
  const Literal logits = randomLiteral(f32({40, 33}), 98);
  for (const int64_t target : targetsHere()) {
    const Only only(target);
    INFO("under " << hwy::TargetName(target));
    checkElements(
        runKernel(ops::Matmul{}, {a, b}),
        [&](int64_t i) {
          double sum = 0;
          for (int64_t k = 0; k < 300; ++k) {
            sum += a.at(i / 41 * 300 + k) * b.at(k * 41 + i % 41);
          }
          return sum;
        },
        0, 300 * 0x1p-52); // 300 terms of at most 1, each sum off by half an ulp of at most 300 / 2
    const Literal soft = runKernel(ops::Softmax{}, {logits});
    for (int64_t row = 0; row < 40; ++row) {
      double sum = 0;
      for (int64_t i = 0; i < 33; ++i) {
        sum += soft.at(row * 33 + i);
      }
      CHECK(std::fabs(sum - 1) < 33 * 0x1p-24); // each share is off by a few ulp of itself
    }
  }
}

} // namespace dfc::testing
