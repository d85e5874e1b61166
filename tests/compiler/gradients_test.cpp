// Every gradient rule against central differences in f64, at first and second order: over the whole op table,
// and at random shapes with broadcasting. Only `evaluate` vouches for the values.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"
#include "tests/support/op_samples.h"

#include <cmath>

using namespace dfc;
using test::Dice;
using TestFormula = test::Formula;

namespace {

void check(const TestFormula& formula, const std::vector<TensorType>& types, int order = 1,
           uint64_t seed = 1) {
  test::checkDifferences(formula, types, order, seed);
}

bool hasGradient(OpKind kind, int order) {
  const OpClass opClass = classOf(kind);
  const bool none = opClass == OpClass::Source || opClass == OpClass::Request ||
                    opClass == OpClass::Transfer || opClass == OpClass::State || arityOf(kind).most == 0 ||
                    test::hasNoGradient(kind) || kind == OpKind::StopGradient; // by what it means
  return !none && (order == 1 || kind != OpKind::SoftmaxCrossEntropy);
}

void checkTable(int order) {
  size_t checked = 0;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (hasGradient(kind, order)) {
      INFO(nameOf(kind));
      const test::OpSample sample = test::sampleOf(kind, ElementType::F64);
      if (std::none_of(sample.operands.begin(), sample.operands.end(),
                       [](const TensorType& type) { return isFloat(type.element); })) {
        continue; // bits have no gradient
      }
      check(
          [&](const std::vector<Tensor>& operands) {
            return operands.front().builder()->op(sample.attributes, operands,
                                                  std::source_location::current());
          },
          sample.operands, order);
      ++checked;
    }
  }
  CHECK(checked >= 29);
}

// A shape that broadcasts to `full`: some leading axes left out, some others 1.
TensorType shrunk(const Dims& full, Dice& dice) {
  Dims dims(full.begin() + dice.below(static_cast<int64_t>(full.size()) + 1), full.end());
  for (int64_t& dim : dims) {
    dim = dice.chance(30) ? 1 : dim;
  }
  return f64(Shape(dims));
}

Dims anyDims(Dice& dice, size_t rank) {
  Dims dims(rank);
  for (int64_t& dim : dims) {
    dim = 1 + dice.below(3);
  }
  return dims;
}

} // namespace

TEST_CASE("gradients: every rule of the table agrees with differences") { checkTable(1); }

TEST_CASE("gradients: so does the gradient of the gradient") { checkTable(2); }

TEST_CASE("gradients: elementwise rules at random broadcast shapes") {
  const std::vector<TestFormula> formulas = {
      [](const auto& x) { return x[0] + x[1] * x[2]; },
      [](const auto& x) { return x[0] / x[1] - x[2]; },
      [](const auto& x) { return max(x[0], x[1]) * min(x[1], x[2]); },
      [](const auto& x) { return select(compare(x[0], x[1], Direction::Lt), x[1] * x[0], exp(x[2])); },
      [](const auto& x) { return tanh(x[0]) * sigmoid(x[1]) + log(x[2]); },
      [](const auto& x) { return relu(x[0] - x[1]) * sqrt(x[2]); },
      [](const auto& x) { return pow(x[0], x[1] - 1) * pow(x[2], -2); },
      [](const auto& x) { return sin(x[0]) * cos(x[1]) + erf(x[2] - 1); },
      [](const auto& x) { return clip(x[0], x[1], x[2] + 0.5) + abs(x[0] - x[1]) * sign(x[2]); },
      [](const auto& x) { return gelu(x[0] - x[1]) + gelu(x[2] - x[1], Approximation::Tanh); },
      [](const auto& x) { return silu(x[0] - x[1]) * softplus(x[2] - x[0]); },
      [](const auto& x) { return hardSwish(4 * (x[0] - x[1])) * x[2] + hardSwish(x[2]); },
      [](const auto& x) { return leakyRelu(x[0] - x[1], x[2]) * rsqrt(x[0]) + reciprocal(x[1] + x[2]); },
      [](const auto& x) { return x[0] * floor(3 * x[1]) + x[1] * ceil(x[2]) + round(x[0]) * x[2]; },
  };
  for (uint64_t seed = 1; seed <= 5 * formulas.size(); ++seed) {
    Dice dice(seed);
    const Dims full = anyDims(dice, static_cast<size_t>(dice.below(4)));
    const std::vector<TensorType> types = {shrunk(full, dice), shrunk(full, dice), shrunk(full, dice)};
    INFO("seed " << seed << ": " << toString(types[0]) << ", " << toString(types[1]) << ", "
                 << toString(types[2]));
    check(formulas[seed % formulas.size()], types, seed % 5 == 0 ? 2 : 1, seed);
  }
}

TEST_CASE("gradients: products with every transpose and broadcast batches") {
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    Dice dice(seed);
    const Transposes transposed{(seed & 1) != 0, (seed & 2) != 0};
    const int64_t m = 1 + dice.below(3), k = 1 + dice.below(3), n = 1 + dice.below(3);
    const Dims batch = anyDims(dice, static_cast<size_t>(dice.below(3)));
    const auto factor = [&](int64_t rows, int64_t columns, bool swapped) {
      const TensorType type = shrunk(batch, dice);
      Dims dims(type.shape.dims().begin(), type.shape.dims().end());
      dims.insert(dims.end(), {swapped ? columns : rows, swapped ? rows : columns});
      return f64(Shape(dims));
    };
    const TensorType a = factor(m, k, transposed.a), b = factor(k, n, transposed.b);
    INFO("seed " << seed << ": " << toString(a) << ", " << toString(b));
    check([&](const auto& x) { return matmul(x[0], x[1], transposed); }, {a, b}, seed % 6 == 0 ? 2 : 1, seed);
  }
}

TEST_CASE("gradients: reductions and softmax over every set of axes") {
  for (uint32_t mask = 0; mask < 16; ++mask) {
    Dims axes;
    for (int64_t axis = 0; axis < 3; ++axis) {
      if ((mask >> axis & 1) != 0) {
        axes.push_back(axis - 3 * static_cast<int64_t>(mask & 1)); // some counted from the end
      }
    }
    const bool keepDims = mask >= 8;
    INFO("mask " << mask);
    const TensorType type = f64({2, 3, 2});
    check([&](const auto& x) { return exp(reduceSum(x[0], axes, keepDims)); }, {type});
    check([&](const auto& x) { return exp(reduceMean(x[0], axes, keepDims)); }, {type});
    check([&](const auto& x) { return exp(reduceMax(x[0], axes, keepDims)); }, {type});
  }
  for (const int64_t axis : {0, 1, -1}) {
    check([&](const auto& x) { return exp(softmax(x[0], axis)); }, {f64({2, 3, 2})}, 2);
    check([&](const auto& x) { return exp(logSoftmax(x[0], axis)); }, {f64({2, 3, 2})}, 2);
  }
}

TEST_CASE("gradients: movements") {
  const TensorType type = f64({4, 5});
  check([](const auto& x) { return exp(slice(x[0], {1, 0}, {4, 5}, {2, 3})); }, {type});
  check([](const auto& x) { return exp(slice(x[0], {1, 5}, {1, 5})); }, {type}); // empty
  check([](const auto& x) { return exp(slice(x[0], {3, 1}, {4, 4}, {7, 2})); }, {type});
  check([](const auto& x) { return exp(pad(x[0], {1, 2}, {3, 0}, {0, 2}, 0.5)); }, {type});
  check([](const auto& x) { return exp(transpose(x[0])) + exp(reshape(x[0], {5, 4})); }, {type});
  check([](const auto& x) { return exp(concat({x[0], x[1], x[0]}, -1)); }, {type, f64({4, 0})});
  check([](const auto& x) { return exp(broadcast(x[0], {2, 4, 5})); }, {f64({4, 1})});
}

TEST_CASE("gradients: of whole formulas, with values used several times") {
  const TestFormula network = [](const std::vector<Tensor>& x) {
    const Tensor hidden = tanh(matmul(x[0], x[1]) + x[2]);
    return softmaxCrossEntropy(matmul(hidden, x[3]) * hidden, x[4]);
  };
  check(network, {f64({4, 3}), f64({3, 2}), f64({2}), f64({2, 2}), i64({4})});
  check([](const auto& x) { return x[0] * x[0] * x[0] / (1 + x[0] * x[0]); }, {f64({3})}, 3);
}

namespace {

using Numbers = std::vector<double>;

// d sum(formula) / d x at each of `xs`, of a type.
Numbers derivatives(const std::function<Tensor(Tensor)>& formula, const Numbers& xs, int order = 1,
                    ElementType type = ElementType::F64) {
  Builder g;
  const auto count = static_cast<int64_t>(xs.size());
  const TensorType ofX{type, {count}};
  const Tensor x = g.input("x", ofX);
  Tensor derivative = formula(x);
  for (int i = 0; i < order; ++i) {
    derivative = gradients(reduceSum(derivative), {x})[0];
  }
  g.fetch("derivative", derivative);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  Literal feed(ofX);
  for (int64_t i = 0; i < count; ++i) {
    feed.set(i, xs[static_cast<size_t>(i)]);
  }
  const Result<Evaluation> values = evaluate(*graph, {{"x", feed}});
  REQUIRE(values.ok());
  Numbers result;
  for (int64_t i = 0; i < count; ++i) {
    result.push_back(values->fetches.at("derivative").at(i));
  }
  return result;
}

} // namespace

TEST_CASE("gradients: of powers at their edges") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto ofBase = [](double exponent) { return [=](Tensor x) { return pow(x, exponent); }; };
  CHECK(derivatives(ofBase(2), {-3, 0, 5}) == Numbers{-6, 0, 10});
  CHECK(derivatives(ofBase(2), {-3, 0, 5}, 2) == Numbers{2, 2, 2});
  CHECK(derivatives(ofBase(2), {-3, 0, 5}, 3) == Numbers{0, 0, 0}); // x^0 is constant, at 0 too
  CHECK(derivatives(ofBase(1), {-3, 0, 5}) == Numbers{1, 1, 1});
  CHECK(derivatives(ofBase(0), {-3, 0, 5, 1e-310}) == Numbers{0, 0, 0, 0}); // 1 / 1e-310 is infinite
  CHECK(derivatives(ofBase(0.5), {0}) == Numbers{inf});
  // d/db a^b = a^b log a; of a base that is not positive none, even where the power is infinite.
  const auto ofExponent = [](double base) { return [=](Tensor x) { return pow(base, x); }; };
  CHECK(derivatives(ofExponent(0), {-1, 0, 2}) == Numbers{0, 0, 0});
  CHECK(derivatives(ofExponent(-2), {2, 3}) == Numbers{0, 0});
  CHECK(derivatives(ofExponent(1), {2, -3}) == Numbers{0, 0});
  // Of both at once where the exponent is 0: d/da (da^b / db) = a^(b-1) (1 + b log a) = 1 / a.
  Builder g;
  const Tensor a = g.input("a", f64({})), b = g.input("b", f64({}));
  g.fetch("mixed", gradients(gradients(pow(a, b), {a})[0], {b})[0]);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const auto values = evaluate(*graph, {{"a", Literal::scalar(4.0)}, {"b", Literal::scalar(0.0)}});
  REQUIRE(values.ok());
  CHECK(values->fetches.at("mixed").at(0) == 0.25);
}

TEST_CASE("gradients: of activations far out and at their corners") {
  const auto tanhForm = [](Tensor x) { return gelu(x, Approximation::Tanh); };
  const auto whole = [](Tensor x) { return gelu(x); };
  CHECK(derivatives(tanhForm, {-1e300, -40, 0, 40, 1e300}) == Numbers{0, 0, 0.5, 1, 1});
  CHECK(derivatives(tanhForm, {-300, 300}, 1, ElementType::F16) == Numbers{0, 1}); // 300^2 overflows
  CHECK(derivatives(whole, {-1e300, -40, 0, 40, 1e300}) == Numbers{0, 0, 0.5, 1, 1});
  CHECK(derivatives(whole, {-300, 300}, 1, ElementType::F16) == Numbers{0, 1});
  CHECK(derivatives(tanhForm, {-1e300, 1e300}, 2) == Numbers{0, 0});
  CHECK(derivatives([](Tensor x) { return silu(x); }, {-1e300, 0, 1e300}) == Numbers{0, 0.5, 1});
  CHECK(derivatives([](Tensor x) { return hardSwish(x); }, {-1e300, -3, 0, 3, 1e300}) ==
        Numbers{0, 0, 0.5, 1, 1});
  CHECK(derivatives([](Tensor x) { return softplus(x); }, {-1e300, 0, 1e300}) == Numbers{0, 0.5, 1});
  CHECK(derivatives([](Tensor x) { return leakyRelu(x, 0.25); }, {-2, 0, 3}) == Numbers{0.25, 1, 1});
  // At a bound the derivative is a's.
  CHECK(derivatives([](Tensor x) { return clip(x, 0, 2); }, {-1, 0, 1, 2, 3}) == Numbers{0, 1, 1, 1, 0});
  CHECK(derivatives([](Tensor x) { return clip(1, x, 2); }, {0, 1, 1.5, 2, 3}) == Numbers{0, 0, 1, 1, 0});
  CHECK(derivatives([](Tensor x) { return clip(1, 0, x); }, {-1, 0.5, 1, 2}) == Numbers{1, 1, 0, 0});
}

namespace {

struct Corners {
  Numbers at, derivatives;
};

// Of ops of one float that have corners or steps: there. No default: a new op does not compile without saying
// whether it has some. Those of several operands are in the tests above.
Corners cornersOf(OpKind kind) {
  switch (kind) {
  case OpKind::Abs: return {{-2, 0, 3}, {-1, 0, 1}};
  case OpKind::Relu: return {{-2, 0, 3}, {0, 0, 1}};
  case OpKind::Sign:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Round: return {{-1, 0, 0.5, 2}, {0, 0, 0, 0}};
  case OpKind::Erf:
  case OpKind::Tanh: return {{-1e300, 1e300}, {0, 0}};
  case OpKind::Neg:
  case OpKind::Exp:
  case OpKind::Log:
  case OpKind::Sqrt:
  case OpKind::Sin:
  case OpKind::Cos: return {}; // smooth wherever they are defined
  case OpKind::Add:
  case OpKind::Sub:
  case OpKind::Mul:
  case OpKind::Div:
  case OpKind::Maximum:
  case OpKind::Minimum:
  case OpKind::Pow:
  case OpKind::Clip:
  case OpKind::Compare:
  case OpKind::Select:
  case OpKind::Cast:
  case OpKind::And:
  case OpKind::Or:
  case OpKind::Xor:
  case OpKind::Not:
#define DFC_OP(Type, text) case OpKind::Type:
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    return {};
  }
  return {};
}

} // namespace

TEST_CASE("gradients: at corners and steps") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (const Corners corners = cornersOf(kind); !corners.at.empty()) {
      INFO(nameOf(kind));
      const auto function = [&](Tensor x) {
        return x.builder()->op(defaultAttributes(kind), {x}, std::source_location::current());
      };
      CHECK(derivatives(function, corners.at) == corners.derivatives);
    }
  }
}

// Where nothing is undefined: what a formula multiplies by an underflow must not be infinite.
TEST_CASE("gradients: of formulas are numbers far out too, to the second order") {
  for (const FormulaFacts* formula : allFormulas()) {
    for (uint8_t variant = 0; formula->operands == 1 && variant < formula->bodies.size(); ++variant) {
      const auto function = [&](Tensor x) {
        OpAttributes attributes = defaultAttributes(formula->kind);
        setFormulaVariant(attributes, variant);
        return x.builder()->op(attributes, {x}, std::source_location::current());
      };
      Numbers within;
      for (const double x : {-1e300, -1e3, -40.0, -1.0, 0.0, 1.0, 40.0, 1e3, 1e300}) {
        if (std::isfinite(static_cast<double>(formula::valueOf(formula->kind, variant, {x})))) {
          within.push_back(x);
        }
      }
      for (const int order : {1, 2}) {
        CAPTURE(nameOf(formula->kind), int(variant), order);
        const Numbers found = derivatives(function, within, order);
        CHECK(std::none_of(found.begin(), found.end(), [](double d) { return std::isnan(d); }));
      }
    }
  }
}

TEST_CASE("gradients: where elements are equal") {
  Builder g;
  const Tensor x = g.input("x", f64({3})), y = g.input("y", f64({3}));
  g.fetch("reduceMax", gradients(reduceMax(x), {x})[0]);
  g.fetch("max", gradients(reduceSum(max(x, y)), {x})[0]);
  g.fetch("min of the other", gradients(reduceSum(min(x, y)), {y})[0]);
  g.fetch("relu", gradients(reduceSum(relu(x - 2)), {x})[0]);
  const Result<Graph> graph = std::move(g).finish();
  REQUIRE(graph.ok());
  const std::vector<double> xs = {2, 1, 2}, ys = {2, 3, 1};
  const Result<Evaluation> values = evaluate(*graph, {{"x", Literal(Shape{3}, std::span<const double>(xs))},
                                                      {"y", Literal(Shape{3}, std::span<const double>(ys))}});
  REQUIRE(values.ok());
  const auto is = [&](const std::string& name, const std::vector<double>& expected) {
    return values->fetches.at(name) == Literal(Shape{3}, std::span<const double>(expected));
  };
  CHECK(is("reduceMax", {0.5, 0, 0.5}));    // two largest share
  CHECK(is("max", {1, 0, 1}));              // a tie goes to the first operand
  CHECK(is("min of the other", {0, 0, 1})); // so nothing of it to the second
  CHECK(is("relu", {0, 0, 0}));             // relu at 0 and below it
}
