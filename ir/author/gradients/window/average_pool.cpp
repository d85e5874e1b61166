// averagePool: its gradient is an op of its own, whose gradient is an averagePool again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

namespace dfc {
void gradientRule(const ops::AveragePool& op, GradientRule& rule) {
  ops::AveragePoolGradient spread;
  const llvm::ArrayRef<int64_t> dims = dimRange(rule.operand(0).shape());
  spread.shape.assign(dims.begin(), dims.end());
  spread.window = op.window;
  spread.strides = op.strides;
  spread.low = op.low;
  spread.high = op.high;
  spread.countPadding = op.countPadding;
  spread.layout = op.layout;
  rule.give(0, rule.builder().op(std::move(spread), {rule.cotangent()}, std::source_location::current()));
}

} // namespace dfc
