// CumSum
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult CumSum::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost CumSum::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
void CumSum::gradient(GradientRule&) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
