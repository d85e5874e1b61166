// The cpu kernel of every formula op, in every variant, on every float type: against its body in long double,
// within the bounds that follow from the body (formula_bounds.h), and against the values that its header
// states. Walks the op table, so that a new formula needs no line here.
#include "ir/graph/formula/formulas.h"
#include "ir/graph/formula/value.h"
#include "ir/graph/fused_instruction.h"
#include "tests/runtime/kernels/kernel_testing.h"
#include "tests/support/catch.h"
#include "tests/support/formula_bounds.h"

#include <cmath>
#include <limits>

namespace dfc::testing {
namespace {

void forEachVariant(const std::function<void(const FormulaFacts&, const OpAttributes&)>& visit) {
  for (const FormulaFacts* formula : allFormulas()) {
    for (size_t variant = 0; variant < formula->bodies.size(); ++variant) {
      OpAttributes attributes = defaultAttributes(formula->kind);
      setFormulaVariant(attributes, static_cast<uint8_t>(variant));
      INFO(nameOf(formula->kind) << " of variant " << variant);
      visit(*formula, attributes);
    }
  }
}

// An error of the arithmetic, and one rounding more to f16 or bf16.
void checkKernel(const OpAttributes& attributes, const std::vector<Literal>& operands) {
  const Literal got = runKernel(attributes, operands);
  const ElementType type = got.type().element;
  const ElementType compute = type == ElementType::F64 ? type : ElementType::F32;
  const OpKind kind = kindOf(attributes);
  for (int64_t i = 0; i < got.type().shape.elements(); ++i) {
    const auto in = test::operandsAt(operands, got.type().shape, i);
    const auto expected = static_cast<double>(formula::valueOf(kind, variantOf(attributes), in));
    const double error = test::formulaError(kind, variantOf(attributes), in, compute);
    const double rounded = roundedTo(type, expected), bound = error + 0.51 * ulp(type, expected);
    const bool same = std::isnan(expected) ? std::isnan(got.at(i)) : got.at(i) == rounded;
    const bool near =
        std::isfinite(rounded) ? std::fabs(got.at(i) - expected) <= bound : got.at(i) == rounded || error > 0;
    if (!same && !near) {
      CAPTURE(toString(got.type()), i, in[0], got.at(i), expected, bound);
      FAIL("off by more than the formula allows");
    }
  }
}

std::vector<Literal> drawn(const FormulaFacts& formula, ElementType type, double low, double high) {
  std::vector<Literal> operands;
  for (size_t i = 0; i < formula.operands; ++i) {
    operands.push_back(randomLiteral({type, {4001}}, static_cast<uint32_t>(61 + i), low, high));
  }
  return operands;
}

} // namespace

TEST_CASE("formula kernels agree with their bodies over every range") {
  forEachVariant([](const FormulaFacts& formula, const OpAttributes& attributes) {
    for (const ElementType type : floatTypes) {
      const double most = type == ElementType::F16 ? 65000 : 1e30;
      const std::vector<std::pair<double, double>> ranges = {{formula.samples.low, formula.samples.high},
                                                             {-1e-3, 1e-3},
                                                             {-1, 1},
                                                             {-9, 9},
                                                             {-40, 40},
                                                             {-120, 120},
                                                             {-750, 750},
                                                             {0, most},
                                                             {-most, 0}};
      for (const auto& [low, high] : ranges) {
        INFO("from " << low << " to " << high);
        checkKernel(attributes, drawn(formula, type, low, high));
      }
    }
  });
}

TEST_CASE("formula kernels agree with their bodies at special values") {
  const double inf = std::numeric_limits<double>::infinity();
  forEachVariant([&](const FormulaFacts& formula, const OpAttributes& attributes) {
    for (const ElementType type : floatTypes) {
      const double least = ulp(type, 0); // the smallest subnormal
      const std::vector<double> values = {std::nan(""), inf,   -inf,   0.0, -0.0, least, -least, 1,
                                          -1,           60000, -60000, 3,   -3,   88,    -88};
      const auto count = static_cast<int64_t>(values.size());
      std::vector<Literal> operands;
      Dims dims(formula.operands, 1); // every combination of them
      for (size_t i = 0; i < formula.operands; ++i) {
        dims.assign(formula.operands, 1);
        dims[i] = count;
        operands.push_back(literalOf(type, Shape(dims), values));
      }
      checkKernel(attributes, operands);
    }
  });
}

TEST_CASE("formula kernels give the values that their headers state") {
  for (const FormulaFacts* formula : allFormulas()) {
    for (const KnownFormulaValue& known : formula->known) {
      for (const ElementType type : {ElementType::F32, ElementType::F64}) {
        OpAttributes attributes = defaultAttributes(formula->kind);
        setFormulaVariant(attributes, known.variant);
        std::vector<Literal> operands;
        for (const double argument : known.arguments) {
          operands.push_back(literalOf(type, {}, {argument}));
        }
        const auto in = test::operandsAt(operands, {}, 0);
        if (in != llvm::SmallVector<double, 3>(known.arguments.begin(), known.arguments.end())) {
          continue; // no number of this type
        }
        const double error = test::formulaError(formula->kind, known.variant, in, type);
        CAPTURE(nameOf(formula->kind), name(type), known.arguments[0]);
        CHECK(std::fabs(runKernel(attributes, operands).at(0) - known.result) <=
              error + 2 * ulp(type, known.result));
      }
    }
  }
}

TEST_CASE("formula kernels give the same bits over an operand, with three threads, and for any length") {
  forEachVariant([](const FormulaFacts& formula, const OpAttributes& attributes) {
    for (const ElementType type : floatTypes) {
      for (const int64_t length : {int64_t{1}, int64_t{33}, int64_t{3 * 1031}}) {
        std::vector<Literal> operands;
        for (size_t i = 0; i < formula.operands; ++i) {
          operands.push_back(randomLiteral({type, {length}}, static_cast<uint32_t>(71 + i),
                                           formula.samples.low, formula.samples.high));
        }
        const Literal apart = runKernel(attributes, operands);
        CHECK(runKernel(attributes, operands, 3) == apart);
        for (size_t i = 0; i < operands.size(); ++i) {
          CHECK(runKernelInPlace(attributes, operands, i) == apart);
        }
      }
    }
  });
}

} // namespace dfc::testing
