// BatchNormTraining
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult BatchNormTraining::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost BatchNormTraining::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void BatchNormTraining::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
