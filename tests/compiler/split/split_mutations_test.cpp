// Wrong rules are caught: factors of right rules with their kind or an axis changed, factors that no op has,
// and parts whose attributes are those of the whole.
#include "tests/compiler/split/in_parts.h"
#include "tests/support/catch.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

bool agrees(const SplitCall& call, const SplitFactor& factor, Forgotten forgotten = Forgotten::Nothing) {
  Dice dice(1);
  const InParts parts = runInParts(call, factor, unevenRanges(factor.extent, 2), dice, forgotten);
  const std::vector<Literal> whole = runWhole(call);
  return parts.error.empty() &&
         std::equal(whole.begin(), whole.end(), parts.results.begin(), parts.results.end(),
                    [](const Literal& a, const Literal& b) { return sameNumbers(a, b); });
}

SplitCall callOf(const OpSample& sample, uint64_t seed = 1) {
  Dice dice(seed);
  return splitCall(sample, SplitValues::Whole, dice);
}

// By one of a few sets of operands.
bool caught(const OpSample& sample, const SplitFactor& factor) {
  return !agrees(callOf(sample), factor) || !agrees(callOf(sample, 2), factor) ||
         !agrees(callOf(sample, 3), factor);
}

// A factor of one axis of operand 0 and one of each result.
SplitFactor claimed(const SplitCall& call, SplitKind kind, size_t axis, std::optional<size_t> resultAxis) {
  SplitFactor factor(kind, call.operandTypes[0].shape[axis], call.operandTypes.size(),
                     call.resultTypes.size());
  factor.operands[0] = alongAxis(call.operandTypes[0], axis);
  for (size_t i = 0; resultAxis && i < call.resultTypes.size(); ++i) {
    factor.results[i] = alongAxis(call.resultTypes[i], *resultAxis);
  }
  return factor;
}

bool rounds(OpKind kind) { // not compared exactly here
  return kind == OpKind::SoftmaxCrossEntropy || kind == OpKind::LayerNormGradient ||
         kind == OpKind::RmsNormGradient || kind == OpKind::AttentionGradient;
}

} // namespace

TEST_CASE("split rules: a changed kind is caught in every sum, product, maximum and scan") {
  size_t mutants = 0;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    for (const OpSample& sample : splitSamples(kind, ElementType::F64)) {
      const SplitCall call = callOf(sample);
      for (SplitFactor factor : splitOf(call.attributes, call.operandTypes, call.resultTypes).factors) {
        if (factor.kind == SplitKind::Free || factor.kind == SplitKind::Window || rounds(kind)) {
          continue;
        }
        INFO(call.text());
        CHECK(agrees(call, factor));
        const bool scan = factor.kind == SplitKind::Scan;
        factor.kind = scan || factor.kind == SplitKind::Max || factor.kind == SplitKind::Min ? SplitKind::Free
                                                                                             : SplitKind::Max;
        CHECK(caught(sample, factor));
        ++mutants;
      }
    }
  }
  CHECK(mutants > 40);
}

TEST_CASE("split rules: an operand that is not cut, or cut along another axis, is caught") {
  size_t mutants = 0;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    for (const OpSample& sample : splitSamples(kind, ElementType::F64)) {
      const SplitCall call = callOf(sample);
      for (const SplitFactor& factor :
           splitOf(call.attributes, call.operandTypes, call.resultTypes).factors) {
        for (size_t at = 0; at < factor.operands.size(); ++at) {
          const SplitAxis& axis = factor.operands[at];
          const bool again = factor.kind == SplitKind::Max || factor.kind == SplitKind::Min;
          if (!axis.cut() || again ||
              kind == OpKind::Assign) { // as right, but slower; an operand that is not read
            continue;
          }
          INFO(call.text() << " operand " << at);
          SplitFactor whole = factor;
          whole.operands[at] = SplitAxis{};
          CHECK(caught(sample, whole));
          ++mutants;
        }
      }
    }
  }
  CHECK(mutants > 300);
}

TEST_CASE("split rules: false claims are caught") {
  const auto operand = [](Shape shape) { return std::vector<TensorType>{f64(shape)}; };
  const SplitCall sum = callOf({ops::ReduceSum{}, operand({4})});
  CHECK(agrees(sum, claimed(sum, SplitKind::Sum, 0, std::nullopt)));
  CHECK_FALSE(agrees(sum, claimed(sum, SplitKind::Free, 0, std::nullopt)));
  for (const OpAttributes& op :
       {OpAttributes(ops::Softmax{}), OpAttributes(ops::LogSoftmax{}), OpAttributes([] {
          ops::CumSum op;
          op.axis = 1;
          return op;
        }())}) {
    const SplitCall call = callOf({op, operand({3, 4})});
    CHECK(agrees(call, claimed(call, SplitKind::Free, 0, 0)));
    CHECK_FALSE(agrees(call, claimed(call, SplitKind::Free, 1, 1))); // within a row
  }
  const SplitCall transposed = callOf({ops::Transpose{}, operand({4, 4})});
  CHECK(agrees(transposed, claimed(transposed, SplitKind::Free, 0, 1)));
  CHECK_FALSE(agrees(transposed, claimed(transposed, SplitKind::Free, 0, 0)));
  const SplitCall best = callOf({ops::ArgMax{}, operand({3, 6})});
  CHECK_FALSE(agrees(best, claimed(best, SplitKind::Max, 1, std::nullopt)));
  const SplitCall matmul = callOf({ops::Matmul{}, {f64({4, 4}), f64({4, 4})}});
  CHECK_FALSE(agrees(matmul, claimed(matmul, SplitKind::Sum, 1, std::nullopt))); // k of one operand only
}

TEST_CASE("split rules: ops that depend on their place are told it") {
  const auto differs = [](const OpSample& sample, SplitKind kind, size_t which) {
    SplitCall call = callOf(sample);
    if (call.operands.size() > 2) {
      call.operands[2] = filledLiteral(call.operandTypes[2], 1);
    }
    const SplitRule rule = splitOf(call.attributes, call.operandTypes, call.resultTypes);
    INFO(call.text());
    REQUIRE(which < rule.factors.size());
    REQUIRE(rule.factors[which].kind == kind);
    CHECK(agrees(call, rule.factors[which]));
    return !agrees(call, rule.factors[which], Forgotten::Attributes);
  };
  CHECK(differs({ops::Dropout{}, {f64({8, 5}), i64({})}}, SplitKind::Free, 0));
  CHECK(differs({ops::Dropout{}, {f64({8, 5}), i64({})}}, SplitKind::Free, 1));
  CHECK(differs({ops::Trilu{}, {f64({6, 6})}}, SplitKind::Free, 0));
  CHECK(differs({ops::Trilu{}, {f64({6, 6})}}, SplitKind::Free, 1));
  CHECK(differs({ops::Gather{}, {f64({6, 2}), i64({20})}}, SplitKind::Sum, 2));
  CHECK(differs({ops::ScatterAdd{}, {f64({6, 2}), i64({20}), f64({20, 2})}}, SplitKind::Free, 0));
  CHECK(differs({ops::SoftmaxCrossEntropyGradient{}, {f64({6, 3}), i64({6}), f64({})}}, SplitKind::Free, 0));
  ops::Attention causal;
  causal.causal = true;
  CHECK(differs({causal, std::vector<TensorType>(3, f64({6, 2}))}, SplitKind::Free, 0));
  CHECK(differs({ops::ReduceMean{}, {f64({8})}}, SplitKind::Sum, 0));
}

} // namespace dfc::test
