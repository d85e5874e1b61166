// averagePool: its gradient is an op of its own, whose gradient is an averagePool again.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

namespace dfc {
void gradientRule(const ops::AveragePool& op, GradientRule& rule) {
  auto spread = samePool<ops::AveragePoolGradient>(op);
  const llvm::ArrayRef<int64_t> dims = dimRange(rule.operand(0).shape());
  spread.shape.assign(dims.begin(), dims.end());
  rule.give(0, rule.builder().op(std::move(spread), {rule.cotangent()}, std::source_location::current()));
}

} // namespace dfc
