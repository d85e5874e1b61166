// The gradient rule of every formula op: the cotangent times the derivative, whose program is written as ops.
#pragma once

#include "ir/author/gradient_rule.h"

namespace dfc {

void formulaGradient(OpKind kind, uint8_t variant, GradientRule& rule);

} // namespace dfc
