// Every split rule: a call is cut along each factor into uneven parts, the parts run in the evaluator, and
// what they give, joined, is what the whole gives: to the bit on whole numbers, whose sums are exact, and on
// any floats where nothing is summed.
#include "tests/compiler/split/in_parts.h"

#include "tests/support/catch.h"

namespace dfc::test {
namespace {

bool combines(SplitKind kind) {
  return kind == SplitKind::Sum || kind == SplitKind::Product || kind == SplitKind::Scan;
}

// Ops whose partial sums are rounded on whole numbers too: exponentials, roots, divisions.
bool roundsPartialSums(OpKind kind) {
  return kind == OpKind::SoftmaxCrossEntropy || kind == OpKind::LayerNormGradient ||
         kind == OpKind::RmsNormGradient || kind == OpKind::AttentionGradient;
}

struct Tally {
  size_t calls = 0, factors = 0, runs = 0;
};

void checkFactor(const SplitCall& call, size_t which, const SplitFactor& factor, bool exact, Dice& dice,
                 Tally& tally) {
  const std::vector<Literal> whole = runWhole(call);
  ++tally.factors;
  for (const int64_t count : {2, 3, 5}) {
    const auto ranges = unevenRanges(factor.extent, count);
    if (ranges.empty()) {
      continue;
    }
    INFO(call.text() << ", factor " << which << " in " << count << " parts: "
                     << toString(splitOf(call.attributes, call.operandTypes, call.resultTypes),
                                 call.operandTypes, call.resultTypes));
    const InParts parts = runInParts(call, factor, ranges, dice);
    REQUIRE(parts.error.empty());
    for (size_t i = 0; i < whole.size(); ++i) {
      CAPTURE(i);
      const bool pieces = factor.results[i].cut() && factor.kind != SplitKind::Scan;
      if (pieces || (exact && !combines(factor.kind))) {
        REQUIRE(parts.results[i] == whole[i]);
      } else if (exact || kindOf(call.attributes) == OpKind::Gather) { // whose parts add nothing but zeros
        REQUIRE(sameNumbers(parts.results[i], whole[i]));
      } else {
        REQUIRE(relativeError(parts.results[i], whole[i]) < 1e-12);
      }
    }
    ++tally.runs;
  }
}

void checkCalls(OpKind kind, ElementType element, SplitValues values, Tally& tally) {
  Dice dice(static_cast<uint64_t>(kind) * 31 + static_cast<uint64_t>(element));
  for (const OpSample& sample : splitSamples(kind, element)) {
    const SplitCall call = splitCall(sample, values, dice);
    ++tally.calls;
    const SplitRule rule = splitOf(call.attributes, call.operandTypes, call.resultTypes);
    for (size_t f = 0; f < rule.factors.size(); ++f) {
      const bool exact = values == SplitValues::Whole && !roundsPartialSums(kind);
      if (exact || !combines(rule.factors[f].kind) || element == ElementType::F64) {
        checkFactor(call, f, rule.factors[f], exact, dice, tally);
      }
    }
  }
}

} // namespace

TEST_CASE("split rules: parts of every op, joined, are the whole") {
  Tally all;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    Tally tally;
    for (const ElementType element :
         {ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64}) {
      checkCalls(kind, element, SplitValues::Whole, tally);
      if (isFloat(element)) {
        checkCalls(kind, element, SplitValues::Any, tally);
      }
    }
    INFO(nameOf(kind));
    CHECK((tally.runs > 0 || kind == OpKind::Gradients || kind == OpKind::Subview ||
           kind == OpKind::Custom)); // an op without samples, or never cut
    all.calls += tally.calls;
    all.factors += tally.factors;
    all.runs += tally.runs;
  }
  CAPTURE(all.calls, all.factors, all.runs);
  CHECK(all.runs > 5000);
}

TEST_CASE("split rules: a mean beside an empty axis has the count of the axis that is cut") {
  ops::ReduceMean mean;
  mean.axes = {0};
  const std::vector<TensorType> operands{f32({4, 0})}, results{f32({0})};
  const SplitRule rule = splitOf(mean, operands, results);
  REQUIRE(rule.factors.size() == 1);
  const OpAttributes part = partOf(mean, {rule.factors[0], {0, 2}, operands, results});
  CHECK(part.as<ops::ReduceMean>().count == 4);
}

TEST_CASE("split rules: small types and bool are cut alike") {
  Tally tally;
  for (const ElementType element :
       {ElementType::F16, ElementType::BF16, ElementType::U8, ElementType::Bool}) {
    for (size_t i = 0; i < opKindCount; ++i) {
      const auto kind = static_cast<OpKind>(i);
      Dice dice(i);
      for (const OpSample& sample : splitSamples(kind, element)) {
        const SplitCall call = splitCall(sample, SplitValues::Whole, dice);
        const SplitRule rule = splitOf(call.attributes, call.operandTypes, call.resultTypes);
        for (size_t f = 0; f < rule.factors.size(); ++f) {
          if (!combines(rule.factors[f].kind)) {
            checkFactor(call, f, rule.factors[f], true, dice, tally);
          }
        }
      }
    }
  }
  CHECK(tally.runs > 1000);
}

} // namespace dfc::test
