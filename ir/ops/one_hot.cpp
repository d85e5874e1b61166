// OneHot
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult OneHot::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost OneHot::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
