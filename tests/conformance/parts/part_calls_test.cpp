// Calls that are parts of a larger one and say where they lie in it: every backend gives what the evaluator
// gives.
#include "compiler/interpreter/evaluate.h"
#include "ir/author/builder.h"
#include "ir/author/decompositions.h"
#include "ir/graph/rules/index_rules.h"
#include "ir/machine/kernel_claims.h"
#include "tests/conformance/agreement.h"
#include "tests/conformance/contenders.h"
#include "tests/support/catch.h"
#include "tests/support/kernel_cases.h"
#include "tests/support/random_values.h"
#include "tests/support/tiny_plan.h"

#include <fmt/format.h>

namespace dfc::test {
namespace {

// Indices of the whole, from both its ends and a little beyond; labels that are classes.
Literal operandOfPart(const OpSample& sample, size_t which, Dice& dice) {
  const TensorType& type = sample.operands[which];
  Literal value = randomLiteral(type, dice);
  const bool labels = kindOf(sample.attributes) == OpKind::SoftmaxCrossEntropy ||
                      kindOf(sample.attributes) == OpKind::SoftmaxCrossEntropyGradient;
  const int64_t range = labels ? sample.operands[0].shape[1] : 3500;
  const bool indices = indexedLength(sample.attributes, sample.operands, which).has_value();
  for (int64_t i = 0; (indices || (labels && which == 1)) && i < type.shape.elements(); ++i) {
    const int64_t spread = type.shape.elements() > 1000 ? range : std::min<int64_t>(range, 14);
    value.set(i, static_cast<double>(dice.below(spread) * (indices && dice.chance(40) ? -1 : 1)));
  }
  return value;
}

// All cases of an element type as one graph: inputs and results go by the case's number.
struct PartGraph {
  std::vector<OpSample> samples;
  NamedLiterals feeds;
  std::vector<std::vector<Literal>> operands;
  Graph graph;
};

PartGraph partGraph(const Contender& contender, ElementType element) {
  std::vector<OpSample> samples = partCases(element);
  std::erase_if(samples, [&](const OpSample& sample) { // composite ops that are taken apart there
    return isComposite(kindOf(sample.attributes)) &&
           !claimsKernel(contender.kind, sample.attributes, sample.operands);
  });
  NamedLiterals feeds;
  std::vector<std::vector<Literal>> operands;
  Dice dice(static_cast<uint64_t>(element));
  Builder g("parts");
  const auto guard = g.on(contender.devices().back());
  for (size_t c = 0; c < samples.size(); ++c) {
    std::vector<Tensor> given;
    operands.emplace_back();
    for (size_t i = 0; i < samples[c].operands.size(); ++i) {
      operands.back().push_back(operandOfPart(samples[c], i, dice));
      if (const auto* gradient = samples[c].attributes.getIf<ops::AttentionGradient>(); gradient && i == 4) {
        operands.back()[i] = evaluateOp(gradient->forward, llvm::ArrayRef(operands.back()).take_front(3))[1];
      }
      const std::string name = fmt::format("x{}_{}", c, i);
      feeds[name] = operands.back()[i];
      given.push_back(g.input(name, samples[c].operands[i]));
    }
    const auto made = g.multiOp(samples[c].attributes, given, std::source_location::current());
    for (size_t r = 0; r < made.size(); ++r) {
      g.fetch(fmt::format("y{}_{}", c, r), made[r]);
    }
  }
  return {std::move(samples), std::move(feeds), std::move(operands), *std::move(g).finish()};
}

} // namespace

TEST_CASE("parts of calls agree with the evaluator") {
  for (const Contender& contender : contenders(Aspect::Values)) {
    for (const ElementType element : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16,
                                      ElementType::I32, ElementType::I64, ElementType::U8}) {
      const PartGraph parts = partGraph(contender, element);
      SessionOptions options = contender.options();
      options.checkIndices = false; // some lie beyond both ends
      auto session = Session::open(tinyPlan(parts.graph, contender.machine()), options);
      REQUIRE(session.ok());
      const auto results = (*session)->run(parts.feeds);
      REQUIRE(results.ok());
      for (size_t c = 0; c < parts.samples.size(); ++c) {
        const OpAttributes& attributes = parts.samples[c].attributes;
        const auto expected = evaluateOp(attributes, parts.operands[c]);
        INFO(contender.name << ": " << describe(parts.samples[c]));
        for (size_t r = 0; r < expected.size(); ++r) {
          const Literal& actual = results->at(fmt::format("y{}_{}", c, r));
          CHECK(disagreement(attributes, parts.operands[c], expected[r], actual, r) == "");
        }
      }
    }
  }
}

} // namespace dfc::test
