// matmul: with C = A B, dA = dC B^T and dB = A^T dC. Every transpose is an attribute of the two products, so
// that none is an op; with a transposed operand the product that gives its gradient is written the other way
// round. Both are taken in the precision of the product itself.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::Matmul& op, GradientRule& rule) {
  const Tensor a = rule.operand(0), b = rule.operand(1), cotangent = rule.cotangent();
  if (rule.wanted(0)) {
    rule.give(0, op.transposeA ? dfc::matmul(b, cotangent, {op.transposeB, true}, op.precision)
                               : dfc::matmul(cotangent, b, {false, !op.transposeB}, op.precision));
  }
  if (rule.wanted(1)) {
    rule.give(1, op.transposeB ? dfc::matmul(cotangent, a, {true, op.transposeA}, op.precision)
                               : dfc::matmul(a, cotangent, {!op.transposeA, false}, op.precision));
  }
}

} // namespace dfc
