// averagePoolGradient: the adjoint of averagePool, which is linear: so its own gradient is that averagePool.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/graph/rules/windows.h"

#include <fmt/format.h>

namespace dfc {
void gradientRule(const ops::AveragePoolGradient& op, GradientRule& rule) {
  ops::AveragePool pool;
  pool.window = op.window;
  pool.strides = op.strides;
  pool.low = op.low;
  pool.high = op.high;
  pool.countPadding = op.countPadding;
  pool.layout = op.layout;
  rule.give(0, rule.builder().op(std::move(pool), {rule.cotangent()}, std::source_location::current()));
}

} // namespace dfc
