// Every elementwise op that is no formula, on every element type that its rule takes, against an oracle that
// computes element by element in double (integers modulo 2^64), over shapes that reach every way an operand
// is read.
#include "ir/graph/formula/formulas.h"
#include "runtime/cpu/kernels/cache_hints.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

using Shapes = std::vector<Shape>;

// Contiguous with and without a remainder, scalar operands, rows and columns that stretch, more than a tile,
// rank 8, and no element at all.
const std::vector<Shapes> binaryShapes = {
    {{}, {}},         {{5}, {5}},          {{67}, {}},
    {{1025}, {1025}}, {{3, 700}, {700}},   {{3, 700}, {3, 1}},
    {{31, 10}, {10}}, {{4, 1, 5}, {3, 1}}, {{2, 1, 2, 1, 3, 1, 2, 2}, {1, 3, 2, 2, 1, 2, 1, 2}},
    {{0, 4}, {4}},    {{3, 0}, {3, 1}},
};

double integerOracle(OpKind kind, ElementType type, double x, double y) {
  const auto a = static_cast<int64_t>(x), b = static_cast<int64_t>(y);
  int64_t result = 0;
  switch (kind) {
  case OpKind::Add: result = a + b; break;
  case OpKind::Sub: result = a - b; break;
  case OpKind::Mul: result = a * b; break;
  case OpKind::Div: result = b == 0 ? 0 : a / b; break;
  case OpKind::Maximum: result = std::max(a, b); break;
  case OpKind::Minimum: result = std::min(a, b); break;
  case OpKind::Neg: result = -a; break;
  case OpKind::Relu: result = std::max<int64_t>(a, 0); break;
  case OpKind::And: result = a & b; break;
  case OpKind::Or: result = a | b; break;
  case OpKind::Xor: result = a ^ b; break;
  case OpKind::Not: result = type == ElementType::Bool ? 1 - a : -1 - a; break;
  case OpKind::Abs: result = std::abs(a); break;
  case OpKind::Sign: result = a == 0 ? 0 : a / std::abs(a); break;
  default: FAIL("no integer form");
  }
  return type == ElementType::U8    ? static_cast<double>(static_cast<uint8_t>(result))
         : type == ElementType::I32 ? static_cast<double>(static_cast<int32_t>(result))
                                    : static_cast<double>(result);
}

double floatOracle(OpKind kind, double a, double b) {
  switch (kind) {
  case OpKind::Add: return a + b;
  case OpKind::Sub: return a - b;
  case OpKind::Mul: return a * b;
  case OpKind::Div: return a / b;
  case OpKind::Maximum: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b);
  case OpKind::Minimum: return std::isnan(a) || std::isnan(b) ? std::nan("") : std::min(a, b);
  case OpKind::Neg: return -a;
  case OpKind::Exp: return std::exp(a);
  case OpKind::Log: return std::log(a);
  case OpKind::Sqrt: return std::sqrt(a);
  case OpKind::Tanh: return std::tanh(a);
  case OpKind::Relu: return a <= 0 ? 0 : a;
  case OpKind::Pow: return std::pow(a, b);
  case OpKind::Abs: return std::abs(a);
  case OpKind::Sign: return a > 0 ? 1 : a < 0 ? -1 : a;
  case OpKind::Floor: return std::floor(a);
  case OpKind::Ceil: return std::ceil(a);
  case OpKind::Round: return std::isinf(a) ? a : a - std::remainder(a, 1.0);
  case OpKind::Sin: return std::sin(a);
  case OpKind::Cos: return std::cos(a);
  case OpKind::Erf: return std::erf(a);
  default: FAIL("no float form of " << nameOf(kind)); return 0;
  }
}

// Highway documents at most 4 ulp for log and tanh, and 1 for exp. The others' bounds are measured
// (kernels_functions_test.cpp). f16 and bf16 round the f32 result, so they are off by at most one of their
// own. No default: an elementwise op that is neither a formula nor listed does not compile.
double tolerance(OpKind kind, ElementType type) {
  const bool lanes = type == ElementType::F32 || type == ElementType::F64;
  constexpr double once = 0.5; // rounded once, in double at most once more for f16 and bf16
  switch (kind) {
  case OpKind::Exp: return lanes ? 2 : 1;
  case OpKind::Log:
  case OpKind::Tanh: return lanes ? 5 : 1;
  case OpKind::Erf:
  case OpKind::Sin:
  case OpKind::Cos: return lanes ? 4 : 1;
  case OpKind::Pow: return lanes ? 0.6 : 1;
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Maximum:
  case OpKind::Minimum:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor:
  case OpKind::Not:
  case OpKind::Neg:
  case OpKind::Abs:
  case OpKind::Sign:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Round:
  case OpKind::Sqrt:
  case OpKind::Relu: return once;
  case OpKind::Clip:
  case OpKind::Compare:
  case OpKind::Select:
  case OpKind::Cast: return 0; // in tests of their own
#define DFC_OP(Type, text) case OpKind::Type:
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    break; // not elementwise, or a formula: kernels_formula_test.cpp
  }
  FAIL("no tolerance of " << nameOf(kind));
  return 0;
}

void checkOp(const OpAttributes& attributes, const std::vector<Literal>& operands) {
  const Literal got = runKernel(attributes, operands);
  const ElementType type = got.type().element;
  const OpKind kind = kindOf(attributes);
  INFO(nameOf(kind) << " " << toString(got.type()));
  const auto operand = [&](size_t i, int64_t at) {
    return operands[i].at(broadcastOffset(operands[i].type().shape, got.type().shape, at));
  };
  checkElements(
      got,
      [&](int64_t at) {
        const double a = operand(0, at), b = operands.size() > 1 ? operand(1, at) : 0;
        return isFloat(type) ? floatOracle(kind, a, b) : integerOracle(kind, type, a, b);
      },
      tolerance(kind, type));
}

// The elementwise ops that are no formulas and take this many operands of one type.
std::vector<OpKind> opsOf(size_t operands) {
  std::vector<OpKind> kinds;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const bool own = kind == OpKind::Compare || kind == OpKind::Cast; // results of another type
    if (classOf(kind) == OpClass::Elementwise && arityOf(kind).most == operands && !own &&
        formulaOf(kind) == nullptr) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}
const std::vector<OpKind> binaryOps = opsOf(2), unaryOps = opsOf(1);

bool elementwiseTakes(OpKind kind, ElementType type) {
  const std::vector<TensorType> operands(arityOf(kind).least, TensorType{type, {}});
  return resultTypes(defaultAttributes(kind), operands).ok();
}

} // namespace

TEST_CASE("binary kernels agree with arithmetic element by element") {
  for (const OpKind kind : binaryOps) {
    for (const ElementType type : allElementTypes) {
      if (!elementwiseTakes(kind, type)) {
        continue;
      }
      for (const Shapes& shapes : binaryShapes) {
        checkOp(defaultAttributes(kind), {randomLiteral({type, shapes[0]}, 1, -300, 250),
                                          randomLiteral({type, shapes[1]}, 2, -300, 250)});
        checkOp(defaultAttributes(kind),
                {randomLiteral({type, shapes[1]}, 3, -3, 3), randomLiteral({type, shapes[0]}, 4, -3, 3)});
      }
    }
  }
}

TEST_CASE("unary kernels agree with arithmetic element by element") {
  for (const OpKind kind : unaryOps) {
    for (const ElementType type : allElementTypes) {
      if (!elementwiseTakes(kind, type)) {
        continue;
      }
      for (const Shape& shape : Shapes{{}, {1}, {33}, {2, 1030}, {0}, {2, 1, 2, 1, 3, 1, 2, 2}}) {
        checkOp(defaultAttributes(kind), {randomLiteral({type, shape}, 5, -9, 9)});
        checkOp(defaultAttributes(kind), {randomLiteral({type, shape}, 6, 0, 0.01)});
      }
    }
  }
}

TEST_CASE("transcendental kernels are good to a few ulp over their whole range") {
  for (const ElementType type : {ElementType::F32, ElementType::F64}) {
    const double most = type == ElementType::F32 ? 88.7 : 709.7;
    checkOp(ops::Exp{}, {randomLiteral({type, {4000}}, 7, -most, most)});
    checkOp(ops::Exp{}, {randomLiteral({type, {4000}}, 7, -1e-3, 1e-3)});
    checkOp(ops::Tanh{}, {randomLiteral({type, {4000}}, 8, -22, 22)});
    checkOp(ops::Tanh{}, {randomLiteral({type, {4000}}, 8, -1e-3, 1e-3)});
    checkOp(ops::Log{}, {randomLiteral({type, {4000}}, 9, 1e-6, 2)});
    checkOp(ops::Log{}, {randomLiteral({type, {4000}}, 9, 1, 1e30)});
  }
}

TEST_CASE("special values go through elementwise kernels as IEEE 754 says") {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    const double least = ulp(type, 0); // the smallest subnormal
    const std::vector<double> values = {nan, inf, -inf, 0.0, -0.0, least, -least, 1, -1, 60000, -60000};
    const auto count = static_cast<int64_t>(values.size());
    const Literal row = literalOf(type, {count}, values), column = literalOf(type, {count, 1}, values);
    for (const OpKind kind : binaryOps) {
      if (elementwiseTakes(kind, type)) {
        checkOp(defaultAttributes(kind), {row, column});
      }
    }
    for (const OpKind kind : unaryOps) {
      if (elementwiseTakes(kind, type)) {
        checkOp(defaultAttributes(kind), {row});
      }
    }
    CHECK(std::signbit(runKernel(ops::Neg{}, {row}).at(3)));  // -(+0) is -0
    CHECK(std::signbit(runKernel(ops::Tanh{}, {row}).at(4))); // tanh(-0) is -0
    CHECK(runKernel(ops::Log{}, {row}).at(4) == -inf);        // log(-0) is -infinity
  }
  const Literal extremes = literalOf(ElementType::F32, {6}, {1e-40, 1e-45, 104, -104, 3e38, -3e38});
  checkOp(ops::Log{}, {extremes});
  checkOp(ops::Exp{}, {extremes}); // exp(-104) = 6.8e-46 rounds to 0: below half of 1.4e-45
}

TEST_CASE("integer division by zero gives 0 and the lowest value over -1 wraps") {
  const auto lowest32 = std::numeric_limits<int32_t>::lowest();
  const std::vector<int32_t> a32 = {7, -7, lowest32, lowest32, 0}, b32 = {0, 2, -1, 0, 0};
  const Literal quotient = runKernel(ops::Div{}, {Literal(Shape{5}, std::span<const int32_t>(a32)),
                                                  Literal(Shape{5}, std::span<const int32_t>(b32))});
  const std::vector<int32_t> expected = {0, -3, lowest32, 0, 0}; // -7 / 2 = -3.5 truncates to -3
  CHECK(quotient == Literal(Shape{5}, std::span<const int32_t>(expected)));
  const auto lowest64 = std::numeric_limits<int64_t>::lowest();
  CHECK(runKernel(ops::Div{}, {Literal::scalar(lowest64), Literal::scalar<int64_t>(-1)}) ==
        Literal::scalar(lowest64));
  CHECK(runKernel(ops::Mul{}, {Literal::scalar<int64_t>(lowest64), Literal::scalar<int64_t>(3)}) ==
        Literal::scalar(lowest64)); // 3 * -2^63 = -2^63 - 2^64, which is -2^63 modulo 2^64
}

TEST_CASE("compare holds for every direction, type and NaN") {
  using Direction = ops::Compare::Direction;
  for (const ElementType type : allElementTypes) {
    Literal a = randomLiteral({type, {1030}}, 11, -2, 2), b = randomLiteral({type, {1030}}, 12, -2, 2);
    for (int64_t i = 0; i < 1030; i += 3) {
      b.set(i, a.at(i));
    }
    if (isFloat(type)) {
      a.set(4, std::nan(""));
      b.set(4, std::nan(""));
      a.set(5, std::nan(""));
    }
    for (const auto direction :
         {Direction::Eq, Direction::Ne, Direction::Lt, Direction::Le, Direction::Gt, Direction::Ge}) {
      ops::Compare op;
      op.direction = direction;
      checkElements(
          runKernel(op, {a, b}),
          [&](int64_t i) {
            const double x = a.at(i), y = b.at(i);
            switch (direction) {
            case Direction::Eq: return double(x == y);
            case Direction::Ne: return double(x != y);
            case Direction::Lt: return double(x < y);
            case Direction::Le: return double(x <= y);
            case Direction::Gt: return double(x > y);
            case Direction::Ge: return double(x >= y);
            }
            return 0.0;
          },
          0);
    }
  }
}

TEST_CASE("select takes bits from either side, whatever the type") {
  for (const ElementType type : allElementTypes) {
    const Literal condition = randomLiteral({ElementType::Bool, {3, 1, 350}}, 13);
    const Literal a = randomLiteral({type, {2, 350}}, 14, -100, 100), b = randomLiteral({type, {}}, 15);
    const Literal got = runKernel(ops::Select{}, {condition, a, b});
    CHECK(got.type().shape == Shape{3, 2, 350});
    checkElements(
        got,
        [&](int64_t i) {
          const bool chosen = condition.at(broadcastOffset(condition.type().shape, got.type().shape, i)) != 0;
          return chosen ? a.at(broadcastOffset(a.type().shape, got.type().shape, i)) : b.at(0);
        },
        0);
  }
}

TEST_CASE("an element's result does not depend on its place") {
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    for (const OpKind kind : unaryOps) {
      if (!elementwiseTakes(kind, type)) {
        continue;
      }
      const Literal all = randomLiteral({type, {67}}, 16, 0.01, 3);
      const Literal whole = runKernel(defaultAttributes(kind), {all});
      for (int64_t i = 0; i < 67; ++i) {
        Literal one(TensorType{type, {1}});
        one.set(0, all.at(i));
        CHECK(runKernel(defaultAttributes(kind), {one}).at(0) == whole.at(i));
      }
    }
  }
}

TEST_CASE("elementwise kernels run in place of any operand of the result's type") {
  for (const ElementType type : allElementTypes) {
    for (const OpKind kind : {OpKind::Add, OpKind::Div, OpKind::Sigmoid, OpKind::Relu, OpKind::Select,
                              OpKind::Clip, OpKind::Pow, OpKind::Xor, OpKind::Gelu}) {
      std::vector<Literal> operands;
      for (size_t i = 0; i < arityOf(kind).least; ++i) {
        const bool condition = kind == OpKind::Select && i == 0;
        operands.push_back(
            randomLiteral({condition ? ElementType::Bool : type, {3, 1031}}, uint32_t(17 + i), -9, 9));
      }
      std::vector<TensorType> types;
      for (const Literal& operand : operands) {
        types.push_back(operand.type());
      }
      if (!resultTypes(defaultAttributes(kind), types).ok()) {
        continue;
      }
      const Literal apart = runKernel(defaultAttributes(kind), operands);
      for (size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].type() == apart.type()) {
          CHECK(runKernelInPlace(defaultAttributes(kind), operands, i) == apart);
        }
      }
    }
  }
}

TEST_CASE("elementwise kernels give the same bits where other devices write operands and read results") {
  // More than a MiB, and tiles that end within a line: 517 x 769 elements.
  for (const ElementType type : {ElementType::F32, ElementType::BF16, ElementType::F64}) {
    const Literal a = randomLiteral({type, {517, 769 * 2}}, 20),
                  b = randomLiteral({type, {517, 769 * 2}}, 21);
    const Literal row = randomLiteral({type, {769 * 2}}, 22);
    const Literal apart = runKernel(ops::Sub{}, {a, b}, 3);
    for (const SharedBuffers& exchanged :
         {SharedBuffers{{true, true}, false}, SharedBuffers{{}, true, true}, SharedBuffers{{}, true, false},
          SharedBuffers{{false, true}, true, true}, SharedBuffers{{false, true}, true, false}}) {
      CHECK(runKernel(ops::Sub{}, {a, b}, 3, exchanged) == apart);
      CHECK(runKernelInPlace(ops::Sub{}, {a, b}, 0, 3, exchanged) == apart);
      CHECK(runKernel(ops::Mul{}, {a, row}, 2, exchanged) == runKernel(ops::Mul{}, {a, row}));
    }
  }
}

TEST_CASE("hints to the caches move every byte and change none") {
  alignas(64) std::array<std::byte, 300> from{}, to{};
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = std::byte(i * 7);
  }
  for (const size_t shift : {size_t{0}, size_t{16}, size_t{5}}) { // aligned to a line, to a pack, to nothing
    to.fill(std::byte{0xee});
    streamOut(to.data() + shift, from.data(), 259);
    endStreaming();
    prefetch(to.data(), to.size());
    prefetchToWrite(to.data(), to.size());
    demote(to.data(), to.size());
    CHECK(std::equal(from.begin(), from.begin() + 259, to.begin() + shift));
    CHECK(std::all_of(to.begin(), to.begin() + shift, [](std::byte b) { return b == std::byte{0xee}; }));
    CHECK(std::all_of(to.begin() + shift + 259, to.end(), [](std::byte b) { return b == std::byte{0xee}; }));
  }
}

TEST_CASE("elementwise kernels give the same bits with one thread and with three") {
  const Literal a = randomLiteral(f32({300, 1500}), 18), b = randomLiteral(f32({300, 1}), 19);
  CHECK(runKernel(ops::Tanh{}, {a}, 1) == runKernel(ops::Tanh{}, {a}, 3));
  CHECK(runKernel(ops::Div{}, {a, b}, 1) == runKernel(ops::Div{}, {a, b}, 3));
}

} // namespace dfc::testing
