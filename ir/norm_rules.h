// What layerNorm and rmsNorm share: the axes that are normalised, and the gradient's statistics. f16 and bf16
// are differentiated in f32, as the ops themselves compute, and rounded once.
#pragma once

#include "ir/author/gradients.h"
#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// The type of operand 0, or what is wrong: a float with an axis `axis`, and every other operand of the same
/// element type in the shape of that axis and all after it; `epsilon` finite, 0 or more.
TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon);

/// Writes the gradients of operands 0 (a), 1 (scale) and, where there is one, 2 (bias). With x the normalised
/// operand (a less its mean if `centred`, times 1 / sqrt(mean of its square + epsilon)), and g = cotangent *
/// scale:
///   da = (g - [mean(g) if centred] - x mean(g x)) / sqrt(…),  dscale = sum(cotangent x),  dbias =
///   sum(cotangent)
void giveNormGradients(GradientRule& rule, double epsilon, bool centred);

} // namespace dfc
