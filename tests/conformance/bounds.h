// How far from the reference evaluator's results those of a backend may be: bounds that follow from the
// arithmetic, for `disagreement`.
#pragma once

#include "ir/graph/graph.h"
#include "ir/graph/rules/norm_rules.h"

#include <functional>

namespace dfc::test {

/// How an op's result may differ: `ulps` of its own type at the value, plus `absolute` by element. 0 ulps:
/// not at all.
struct Bound {
  double ulps = 0;
  std::function<double(int64_t)> absolute = [](int64_t) { return 0.0; };
};

/// For result `result` of an op, of which `expected` is the value. The bound may keep references to both.
Bound boundFor(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected,
               size_t result = 0);
/// Of an op that is linear in the magnitudes of its operands.
Bound sumBound(const OpAttributes& attributes, llvm::ArrayRef<Literal> operands, const Literal& expected);
Bound batchNormBound(const ops::BatchNorm& op, llvm::ArrayRef<Literal> operands);
Bound batchNormBound(const ops::BatchNormTraining& op, llvm::ArrayRef<Literal> operands, size_t result);
Bound batchNormBound(const ops::BatchNormPass& op, llvm::ArrayRef<Literal> operands);
Bound batchNormBound(const ops::BatchNormGradientPass& op, llvm::ArrayRef<Literal> operands, size_t result);
Bound batchNormBound(const ops::BatchNormSums& op, llvm::ArrayRef<Literal> operands);
Bound batchNormBound(const ops::BatchNormGradient& op, llvm::ArrayRef<Literal> operands, size_t result);
Bound normGradientBound(const NormGradientForm& form, llvm::ArrayRef<Literal> operands, size_t result);

Bound attentionBound(const ops::Attention& op, llvm::ArrayRef<Literal> operands, size_t result);
Bound attentionBound(const ops::AttentionGradient& op, llvm::ArrayRef<Literal> operands, size_t result);

/// The largest |element| that is finite; 0 for none.
double largestMagnitude(llvm::ArrayRef<Literal> operands);
/// Distance from 1 to the next number; 0 for integers.
double epsilonOf(ElementType type);
/// The least number of a float type above 0.
double smallestOf(ElementType type);
/// What floats are computed in.
ElementType accumulatorType(ElementType type);
double accumulatorEpsilon(ElementType type);
Literal magnitudes(const Literal& value);

} // namespace dfc::test
