// Ops whose rule gives nothing: sources; ops of the compiler, which come after differentiation; and functions
// whose results are booleans or indices, or do not depend on a float operand. `gradients` refuses an op that
// depends on a float operand and gives it no gradient.
#include "ir/author/gradient_rules.h"

namespace dfc {

void gradientRule(const ops::Input&, GradientRule&) {}
void gradientRule(const ops::Parameter&, GradientRule&) {}
void gradientRule(const ops::Constant&, GradientRule&) {}
void gradientRule(const ops::Transfer&, GradientRule&) {}
void gradientRule(const ops::Subview&, GradientRule&) {}
void gradientRule(const ops::Gradients&, GradientRule&) {}
void gradientRule(const ops::Custom&, GradientRule&) {}
void gradientRule(const ops::And&, GradientRule&) {}
void gradientRule(const ops::Or&, GradientRule&) {}
void gradientRule(const ops::Xor&, GradientRule&) {}
void gradientRule(const ops::Not&, GradientRule&) {}
void gradientRule(const ops::Compare&, GradientRule&) {}
void gradientRule(const ops::Fused&, GradientRule&) {}
void gradientRule(const ops::FusedMatmul&, GradientRule&) {}
void gradientRule(const ops::FusedConv2d&, GradientRule&) {}
void gradientRule(const ops::BatchNormSums&, GradientRule&) {}
void gradientRule(const ops::BatchNormPass&, GradientRule&) {}
void gradientRule(const ops::BatchNormGradientPass&, GradientRule&) {}
void gradientRule(const ops::ArgMax&, GradientRule&) {}
void gradientRule(const ops::SoftmaxCrossEntropyGradient&, GradientRule&) {}
void gradientRule(const ops::OneHot&, GradientRule&) {}
void gradientRule(const ops::Iota&, GradientRule&) {}
void gradientRule(const ops::RandomUniform&, GradientRule&) {}

} // namespace dfc
