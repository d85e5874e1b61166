// gather: the gradient of every slice goes back to where the slice came from; slices that were taken several
// times add up. Indices have none. Where other users of the operand (the head of a language model with tied
// embeddings) have given it a gradient, the slices are added to that one: zeros of its size, and their sum
// with it, would each be a pass over memory.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/index_rules.h"

namespace dfc {
void gradientRule(const ops::Gather& op, GradientRule& rule) {
  rule.independentOf(1);
  if (rule.wanted(0)) {
    const auto addedTo = [&](Tensor base) {
      ops::ScatterAdd back;
      back.axis = op.axis;
      back.part = op.part;
      return rule.builder().op(back, {base, rule.operand(1), rule.cotangent()},
                               std::source_location::current());
    };
    if (const Tensor others = rule.soFar(0); others.valid()) {
      rule.giveSum(0, addedTo(others));
    } else {
      rule.give(0, addedTo(zerosOf(rule.builder(), rule.operand(0).type())));
    }
  }
}

} // namespace dfc
