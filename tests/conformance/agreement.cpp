// Error bounds by op. With u the unit roundoff of the accumulator, a sum of n terms in any order is off by at
// most (n - 1) u sum|terms| to first order (Higham, Accuracy and Stability of Numerical Algorithms, 4.2); f16
// and bf16 accumulate in f32. On top of that every bound allows roundings to the result's own type.
#include "tests/conformance/agreement.h"

#include "compiler/interpreter/evaluate.h"
#include "tests/conformance/bounds.h"
#include "tests/support/random_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dfc::test {
namespace {

/// How far element `i` of a float result may be off.
double allowedAt(const Bound& bound, const Literal& expected, int64_t i) {
  const ElementType type = expected.type().element;
  return bound.ulps * std::max(epsilonOf(type) * std::fabs(expected.at(i)), smallestOf(type)) +
         bound.absolute(i);
}

/// The epilogue's results for a product at the lower end of its bound, in the middle and at the upper end.
std::vector<Literal> epilogueResults(const OpAttributes& ofFactors, const ops::Fused& epilogue,
                                     llvm::ArrayRef<Literal> operands) {
  const llvm::ArrayRef<Literal> factors = operands.take_front(2);
  const Literal product = evaluateOp(ofFactors, factors)[0];
  const Bound bound = sumBound(ofFactors, factors, product);
  std::vector<Literal> results;
  for (const double side : {-1.0, 0.0, 1.0}) {
    Literal moved = product;
    for (int64_t i = 0; isFloat(product.type().element) && i < product.type().shape.elements(); ++i) {
      moved.set(i, product.at(i) + side * allowedAt(bound, product, i));
    }
    std::vector<Literal> inputs{moved};
    inputs.insert(inputs.end(), operands.begin() + 2, operands.end());
    results.push_back(evaluateOp(epilogue, inputs)[0]);
  }
  return results;
}

/// The product, of matrices or a convolution, may be anywhere within its bound, and the epilogue goes along:
/// right for one that rises or falls throughout there, which is all that is asked of it here. Its own
/// transcendental functions may err by 4 ulps.
std::string fusedDisagreement(const OpAttributes& product, const ops::Fused& epilogue,
                              llvm::ArrayRef<Literal> operands, const Literal& actual) {
  const std::vector<Literal> results = epilogueResults(product, epilogue, operands);
  for (int64_t i = 0; i < actual.type().shape.elements(); ++i) {
    const auto [least, most] = std::minmax({results[0].at(i), results[1].at(i), results[2].at(i)});
    const double got = actual.at(i), slack = allowedAt({4}, results[1], i);
    const bool same = std::isnan(results[1].at(i)) && std::isnan(got);
    if (!same && !(got >= least - slack && got <= most + slack)) {
      return fmt::format("element {}: expected {} to {}, got {}", i, least, most, got);
    }
  }
  return "";
}

} // namespace

std::string disagreement(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands,
                         const Literal& expected, const Literal& actual, size_t result) {
  if (bitDifference(expected, actual).empty()) {
    return "";
  }
  const bool sameType = actual.type() == expected.type();
  if (const auto* fused = attributes.getIf<ops::FusedMatmul>(); fused != nullptr && sameType) {
    return fusedDisagreement(fused->product(), fused->epilogue(), operands, actual);
  }
  if (const auto* fused = attributes.getIf<ops::FusedConv2d>(); fused != nullptr && sameType) {
    return fusedDisagreement(fused->convolution(), fused->epilogue(), operands, actual);
  }
  const Bound bound = boundFor(attributes, operands, expected, result);
  if (bound.ulps == 0 || actual.type() != expected.type()) {
    return bitDifference(expected, actual);
  }
  for (int64_t i = 0; i < expected.type().shape.elements(); ++i) {
    const double want = expected.at(i);
    const double got = actual.at(i);
    const bool same = want == got || (std::isnan(want) && std::isnan(got));
    const double allowed = allowedAt(bound, expected, i);
    if (!same && !(std::fabs(want - got) <= allowed)) {
      return fmt::format("element {}: expected {}, got {}, off by {} where {} is allowed", i, want, got,
                         std::fabs(want - got), allowed);
    }
  }
  return "";
}

} // namespace dfc::test
