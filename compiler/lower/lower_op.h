// The launches of single ops, by the same rules as those of a plan.
#pragma once

#include "ir/plan/op_lowering.h"

namespace dfc {

/// Lasts for the whole program; may be used by many threads at once.
const OpLowering& opLowering();

} // namespace dfc
