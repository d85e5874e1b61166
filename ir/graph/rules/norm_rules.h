// What layerNorm and rmsNorm share: the form of their operands.
#pragma once

#include "ir/graph/rules/op_rules.h"

namespace dfc {

/// The type of operand 0, or what is wrong: a float with an axis `axis`, and every other operand of the same
/// element type in the shape of that axis and all after it; `epsilon` finite, 0 or more.
TypeResult normTypes(OpKind kind, OperandTypes operands, int64_t axis, double epsilon);

} // namespace dfc
