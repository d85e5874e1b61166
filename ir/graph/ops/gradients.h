// gradients(loss, x0, x1, …): one result for each x, d loss / d x, of the type of x. A request: the pass
// `gradients` puts ordinary ops in its place. loss: a scalar of float type.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc::ops {

struct Gradients : OpDefaults {
  static constexpr OpClass opClass = OpClass::Request;
  static constexpr Arity arity{2, anyNumber};

  TypeResult types(OperandTypes operands) const;
  SplitRule split(OperandTypes operands, OperandTypes results) const;
  OpCost cost(OperandTypes operands, OperandTypes results) const;
};

} // namespace dfc::ops
