// Gradients of calls that are parts of a larger one know their place, too: against central differences.
#include "ir/author/dsl.h"
#include "ir/author/gradients.h"
#include "ir/graph/graph.h"
#include "tests/support/catch.h"
#include "tests/support/differences.h"

namespace dfc::test {
namespace {

Tensor indicesBeside(const Tensor& like, const std::vector<int64_t>& values) {
  return like.builder()->constant(
      Literal(Shape{static_cast<int64_t>(values.size())}, std::span<const int64_t>(values)));
}

Tensor partCall(const OpAttributes& op, const std::vector<Tensor>& operands) {
  return operands[0].builder()->op(op, operands, std::source_location::current());
}

} // namespace

TEST_CASE("gradients of parts: gather and scatterAdd of a part of an axis") {
  // Of 9 slices these are 3 … 5: indices 4 and -5 name slice 1 of the part, 5 and -4 slice 2, 1 and -1 none.
  const std::vector<int64_t> indices = {4, -5, 5, 1, -4, -1};
  checkDifferences(
      [&](const auto& x) {
        ops::Gather op;
        op.part = {3, 9};
        return exp(partCall(op, {x[0], indicesBeside(x[0], indices)}));
      },
      {f64({3, 2})}, 2);
  checkDifferences(
      [&](const auto& x) {
        ops::ScatterAdd op;
        op.part = {3, 9};
        return exp(partCall(op, {x[0], indicesBeside(x[0], indices), x[1]}));
      },
      {f64({3, 2}), f64({6, 2})}, 2);
}

TEST_CASE("gradients of parts: dropout, cross entropy and a mean") {
  checkDifferences(
      [](const auto& x) {
        ops::Dropout op;
        op.part.starts = {1, 2};
        op.part.whole = {9, 7};
        return exp(partCall(op, {x[0], x[0].builder()->constant(Literal::scalar<int64_t>(3))}));
      },
      {f64({4, 5})}, 2);
  checkDifferences(
      [](const auto& x) {
        ops::SoftmaxCrossEntropy op;
        op.rows = 10;
        return partCall(op, {x[0], indicesBeside(x[0], {1, 0, 2})});
      },
      {f64({3, 3})}, 1);
  checkDifferences(
      [](const auto& x) {
        ops::ReduceMean op;
        op.axes = {0};
        op.count = 40;
        return exp(partCall(op, {x[0]}));
      },
      {f64({4, 3})}, 2);
}

} // namespace dfc::test
