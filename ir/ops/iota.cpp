// Iota
#include "ir/assert.h"
#include "ir/gradients.h"
#include "ir/op_rules.h"

namespace dfc::ops {

TypeResult Iota::types(OperandTypes) const { DFC_UNREACHABLE("unfinished"); }
OpCost Iota::cost(OperandTypes, OperandTypes) const { DFC_UNREACHABLE("unfinished"); }

} // namespace dfc::ops
