// The gradients of layerNorm and rmsNorm. f16 and bf16 are differentiated in f32, as the ops themselves
// compute, and rounded once.
#pragma once

#include "ir/author/gradient_rule.h"

namespace dfc {

/// Writes the gradients of operands 0 (a), 1 (scale) and, where there is one, 2 (bias). With x the normalised
/// operand (a less its mean if `centred`, times 1 / sqrt(mean of its square + epsilon)), and g = cotangent *
/// scale:
///   da = (g - [mean(g) if centred] - x mean(g x)) / sqrt(…),  dscale = sum(cotangent x),  dbias =
///   sum(cotangent)
void giveNormGradients(GradientRule& rule, double epsilon, bool centred);

} // namespace dfc
