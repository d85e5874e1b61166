// What a rule calls linear is: f(a) + f(b) = f(a + b) for each set of operands, the others as they are. On
// whole numbers, exactly, but for ops that divide or take roots and exponentials.
#include "compiler/interpreter/evaluate.h"
#include "tests/compiler/split/in_parts.h"
#include "tests/support/catch.h"

#include <llvm/ADT/STLExtras.h>

namespace dfc::test {
namespace {

bool roundsWholeNumbers(OpKind kind) {
  switch (kind) {
  case OpKind::Dropout:
  case OpKind::ReduceMean:
  case OpKind::SoftmaxCrossEntropyGradient:
  case OpKind::LayerNormGradient:
  case OpKind::RmsNormGradient:
  case OpKind::BatchNormGradient:
  case OpKind::AttentionGradient:
  case OpKind::AveragePool:
  case OpKind::AveragePoolGradient: return true;
  default: return false;
  }
}

bool isNumber(ElementType element) { return element != ElementType::Bool; }

// The call with other values in `set`; `others` says which.
SplitCall withOperands(SplitCall call, llvm::ArrayRef<uint32_t> set, llvm::ArrayRef<Literal> others) {
  for (size_t i = 0; i < set.size(); ++i) {
    call.operands[set[i]] = others[i];
  }
  return call;
}

size_t checkLinear(const SplitCall& call, llvm::ArrayRef<uint32_t> set, Dice& dice) {
  std::vector<Literal> a, b, both;
  for (const uint32_t i : set) {
    if (!isNumber(call.operandTypes[i].element)) {
      return 0;
    }
    a.push_back(call.operands[i]);
    b.push_back(wholeNumbers(call.operandTypes[i], dice));
    both.push_back(sumOf(a.back(), b.back()));
  }
  const auto ofA = runWhole(withOperands(call, set, a)), ofB = runWhole(withOperands(call, set, b)),
             ofBoth = runWhole(withOperands(call, set, both));
  for (size_t i = 0; i < ofA.size(); ++i) {
    const Literal sum = sumOf(ofA[i], ofB[i]);
    INFO(call.text() << ", operand " << set.front() << " of a set of " << set.size() << ", result " << i);
    if (roundsWholeNumbers(kindOf(call.attributes))) {
      CHECK(relativeError(sum, ofBoth[i]) < 1e-11);
    } else {
      CHECK(sameNumbers(sum, ofBoth[i]));
    }
  }
  return 1;
}

size_t checkSets(OpKind kind, ElementType element) {
  size_t checked = 0;
  Dice dice(static_cast<uint64_t>(kind));
  for (const OpSample& sample : splitSamples(kind, element)) {
    const SplitCall call = splitCall(sample, SplitValues::Whole, dice);
    for (const auto& set : splitOf(call.attributes, call.operandTypes, call.resultTypes).linearIn) {
      checked += checkLinear(call, set, dice);
    }
  }
  return checked;
}

} // namespace

TEST_CASE("split rules: partial sums pass through what is linear") {
  size_t checked = 0;
  for (size_t i = 0; i < opKindCount; ++i) {
    const auto kind = static_cast<OpKind>(i);
    checked += checkSets(kind, ElementType::F64);
    if (!roundsWholeNumbers(kind)) {
      checked += checkSets(kind, ElementType::F32) + checkSets(kind, ElementType::I32);
    }
  }
  CHECK(checked > 200);
}

TEST_CASE("split rules: what is not linear does not call itself so") {
  for (const OpKind kind :
       {OpKind::Exp, OpKind::Relu, OpKind::Maximum, OpKind::Div, OpKind::Cast, OpKind::Softmax,
        OpKind::ReduceMax, OpKind::MaxPool, OpKind::LayerNorm, OpKind::Attention}) {
    const OpSample sample = sampleOf(kind);
    const TypeResult results = resultTypes(sample.attributes, sample.operands);
    CHECK(splitOf(sample.attributes, sample.operands, results.types).linearIn.empty());
  }
}

} // namespace dfc::test
