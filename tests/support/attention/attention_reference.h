// Attention and its gradient in f64, and how far a kernel may be from them: what tests hold attention kernels
// against.
#pragma once

#include "compiler/lower/kernels/attention/attention.h"
#include "tests/support/random_values.h"

#include <string>
#include <vector>

namespace dfc::test {

/// Numbers of a result, and how far from each the kernel's may be.
struct ExpectedNumbers {
  std::vector<double> value, bound;
};

/// Random operands of a problem, and what comes of them. The mask is dense but for axes whose stride is 0.
struct AttentionExample {
  cuda::AttentionProblem problem;
  Literal q, k, v, cotangent, mask;
  Literal logSumExp, delta; ///< f32, from the reference
  ExpectedNumbers o, ofLogSumExp, dq, dk, dv;

  AttentionExample(const cuda::AttentionProblem& problem, uint64_t seed);
  std::vector<Literal> operands() const;         ///< of the forward kernel
  std::vector<Literal> gradientOperands() const; ///< of the gradient's
  std::vector<TensorType> results() const;
  std::vector<TensorType> gradientResults() const;
};

/// A mask's strides for a problem: dense along the axes where `along`.
std::array<int64_t, 4> maskStrides(const cuda::AttentionProblem& problem, std::array<bool, 4> along);

/// The problem's sizes, for messages.
std::string describe(const cuda::AttentionProblem& problem);

/// "" where every number is within its bound (NaN and infinities the same), else the worst. `worst`: the
/// largest part of a bound that is used up.
std::string beyondBounds(const ExpectedNumbers& expected, const Literal& actual, double& worst);

/// A random problem of the element type: all features, sizes up to `most`.
cuda::AttentionProblem randomAttention(Dice& dice, ElementType element, bool tf32, int64_t most,
                                       int64_t widest);

} // namespace dfc::test
