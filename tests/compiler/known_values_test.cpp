// The evaluator at values that are known from elsewhere: every elementwise op has some. Those of formulas are
// in their headers; the others are here, in a switch without default, so that a new op does not compile
// without its row.
#include "compiler/interpreter/evaluate.h"
#include "ir/graph/formula/derivative.h"
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"

#include <cmath>

using namespace dfc;

namespace {

struct Known {
  std::vector<double> operands;
  double result;
};

std::vector<Known> knownValuesOf(OpKind kind) {
  switch (kind) {
  case OpKind::Add: return {{{2, 3}, 5}};
  case OpKind::Sub: return {{{2, 3}, -1}};
  case OpKind::Mul: return {{{2, 3}, 6}};
  case OpKind::Div: return {{{3, 2}, 1.5}};
  case OpKind::Maximum: return {{{2, 3}, 3}};
  case OpKind::Minimum: return {{{2, 3}, 2}};
  case OpKind::Pow: return {{{2, 10}, 1024}, {{9, 0.5}, 3}, {{-2, 3}, -8}};
  case OpKind::And: return {{{12, 10}, 8}}; // 1100 and 1010: 1000
  case OpKind::Or: return {{{12, 10}, 14}}; // 1110
  case OpKind::Xor: return {{{12, 10}, 6}}; // 0110
  case OpKind::Not: return {{{0}, -1}, {{7}, -8}};
  case OpKind::Neg: return {{{2}, -2}};
  case OpKind::Abs: return {{{-3}, 3}};
  case OpKind::Sign: return {{{-3}, -1}, {{0}, 0}};
  case OpKind::Floor: return {{{-1.5}, -2}};
  case OpKind::Ceil: return {{{-1.5}, -1}};
  case OpKind::Round: return {{{2.5}, 2}, {{-3.5}, -4}};
  case OpKind::Exp: return {{{0}, 1}, {{1}, 2.7182818284590452}};
  case OpKind::Log: return {{{1}, 0}, {{2}, 0.69314718055994531}};
  case OpKind::Sqrt: return {{{9}, 3}};
  case OpKind::Sin: return {{{0}, 0}, {{1}, 0.84147098480789651}};
  case OpKind::Cos: return {{{0}, 1}, {{1}, 0.54030230586813972}};
  case OpKind::Erf: return {{{0}, 0}, {{0.5}, 0.5204998778130465}};
  case OpKind::Tanh: return {{{0}, 0}, {{1}, 0.76159415595576489}};
  case OpKind::Relu: return {{{-2}, 0}, {{2}, 2}};
  case OpKind::Clip: return {{{5, 0, 4}, 4}, {{9, 5, 1}, 1}};
  case OpKind::Compare: return {{{2, 2}, 1}, {{2, 3}, 0}}; // eq
  case OpKind::Select: return {{{1, 2, 3}, 2}, {{0, 2, 3}, 3}};
  case OpKind::Cast: return {{{2.5}, 2.5}};
#define DFC_OP(Type, text) case OpKind::Type:
#define DFC_ELEMENTWISE_OP(Type, text)
#define DFC_FORMULA_OP(Type, name) case OpKind::Type:
#include "ir/graph/ops.def"
#undef DFC_OP
    break;
  }
  return {};
}

double evaluated(const OpAttributes& attributes, const std::vector<double>& operands) {
  const OpKind kind = kindOf(attributes);
  const bool bits = kind == OpKind::And || kind == OpKind::Or || kind == OpKind::Xor || kind == OpKind::Not;
  std::vector<Literal> literals;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool condition = kind == OpKind::Select && i == 0;
    const ElementType type = condition ? ElementType::Bool : bits ? ElementType::I64 : ElementType::F64;
    literals.emplace_back(TensorType{type, {}}).set(0, operands[i]);
  }
  return evaluateOp(attributes, literals)[0].at(0);
}

bool near(double a, double b) { return a == b || std::fabs(a - b) <= 0x1p-51 * std::fabs(b); }

} // namespace

TEST_CASE("evaluate: elementwise ops have their known values") {
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    if (classOf(kind) != OpClass::Elementwise || formulaOf(kind) != nullptr) {
      continue;
    }
    const std::vector<Known> values = knownValuesOf(kind);
    INFO(nameOf(kind));
    CHECK(!values.empty());
    for (const Known& known : values) {
      OpAttributes attributes = defaultAttributes(kind);
      if (auto* cast = attributes.getIf<ops::Cast>()) {
        cast->to = ElementType::F64;
      }
      CHECK(near(evaluated(attributes, known.operands), known.result));
    }
  }
}

TEST_CASE("evaluate: formulas have the values that their headers state") {
  for (const FormulaFacts* formula : allFormulas()) {
    for (const KnownFormulaValue& known : formula->known) {
      OpAttributes attributes = defaultAttributes(formula->kind);
      setFormulaVariant(attributes, known.variant);
      CAPTURE(nameOf(formula->kind), known.arguments[0]);
      CHECK(near(evaluated(attributes, known.arguments), known.result));
    }
  }
}

// Where a formula states its derivative, that is the derivative of its body: at points within the range of
// samples, to what the second form of a function costs.
TEST_CASE("formulas: stated derivatives are those that follow from the body") {
  for (const FormulaFacts* formula : allFormulas()) {
    for (uint8_t variant = 0; variant < formula->bodies.size(); ++variant) {
      const formula::Program stated = formula::derivativesOf(formula->kind, variant);
      const formula::Program automatic = formula::automaticDerivativesOf(formula->kind, variant);
      for (int step = 1; step < 40; ++step) {
        const double width = formula->samples.high - formula->samples.low;
        std::vector<double> in(formula->operands, 0.25);
        in[0] = formula->samples.low + width * step / 40.7; // no corner lies there
        std::vector<long double> arguments(in.begin(), in.end());
        arguments.push_back(formula::valueOf(formula->kind, variant, in));
        const auto one = formula::valuesOf(stated, arguments),
                   other = formula::valuesOf(automatic, arguments);
        for (size_t i = 0; i < formula->operands; ++i) {
          CAPTURE(nameOf(formula->kind), int(variant), in[0], i);
          CHECK(std::fabs(one[i] - other[i]) <= 1e-14L * (1 + std::fabs(one[i])));
        }
      }
    }
  }
}
