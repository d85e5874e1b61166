// rmsNorm: rules shared with layerNorm are in ir/graph/rules/norm_rules.h.
#include "ir/author/dsl.h"
#include "ir/author/gradient_rules.h"
#include "ir/author/gradients/normalisation/norm_gradients.h"

namespace dfc {
void gradientRule(const ops::RmsNorm& op, GradientRule& rule) { giveNormGradients(rule, op.epsilon, false); }

} // namespace dfc
