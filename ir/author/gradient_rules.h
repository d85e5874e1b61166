// The gradient rule of every op, one file an op in gradients/. A rule writes, through the DSL, the gradients
// of the operands that are wanted. An op without a definition does not link, so that none is forgotten; ops
// that have no gradient are listed in gradients/without_gradient.cpp.
#pragma once

#include "ir/author/gradient_rule.h"

namespace dfc {

#define DFC_OP(Type, text) void gradientRule(const ops::Type& op, GradientRule& rule);
#define DFC_FORMULA_OP(Type, name) // see formula_gradient.h
#include "ir/graph/ops.def"
#undef DFC_OP

/// Runs the rule of the op that `attributes` hold; operands without a gradient are left alone.
void applyGradient(const OpAttributes& attributes, GradientRule& rule);

} // namespace dfc
