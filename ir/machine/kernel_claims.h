// Which composite ops (DFC_COMPOSITE_OP in ir/graph/ops.def) a kind of device has a kernel for. What a kind
// does not claim is decomposed by the pass `decompose`. A claim is a promise of every backend that plays the
// kind: a test holds the backends' own answers against this table.
#pragma once

#include "ir/graph/op.h"
#include "ir/machine/machine.h"

namespace dfc {

/// Whether devices of this kind have a kernel for the op, of operands that its type rule accepts. False for
/// ops that are not composite: they have no decomposition, and every device computes them.
bool claimsKernel(DeviceKind kind, const OpAttributes& attributes, OperandTypes operands);
/// Whether every kind of device has a kernel for the op, so that it is not decomposed.
bool everyKindClaims(const OpAttributes& attributes, OperandTypes operands);

} // namespace dfc
