// averagePoolGradient: the adjoint of averagePool, which is linear: so its own gradient is that averagePool.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::AveragePoolGradient& op, GradientRule& rule) {
  rule.give(0, rule.builder().op(samePool<ops::AveragePool>(op), {rule.cotangent()},
                                 std::source_location::current()));
}

} // namespace dfc
