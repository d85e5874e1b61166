// dynamicUpdateSlice: `a` gets the gradient but for what was overwritten, where it gets zeros, and the update
// gets what `a` does not. The starts have none.
#include "ir/author/dsl.h"
#include "ir/author/gradient_parts.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/dynamic_rules.h"

namespace dfc {
void gradientRule(const ops::DynamicUpdateSlice& op, GradientRule& rule) {
  rule.independentOf(2);
  const TensorType update = rule.operand(1).type();
  const Tensor starts = rule.operand(2);
  if (rule.wanted(0)) {
    const Tensor zeros = zerosOf(rule.builder(), update);
    rule.give(0, dynamicUpdateSlice(rule.cotangent(), zeros, starts, op.axes));
  }
  if (rule.wanted(1)) {
    const Dims started = *startedAxes(op.axes, update.shape.rank());
    Dims sizes;
    for (const int64_t axis : started) {
      sizes.push_back(update.shape[static_cast<size_t>(axis)]);
    }
    rule.give(1, dynamicSlice(rule.cotangent(), starts, sizes, op.axes));
  }
}

} // namespace dfc
