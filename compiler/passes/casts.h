// Casts that passes append around an op.
#pragma once

#include "ir/graph/rewriter.h"

#include <string>

namespace dfc {

/// "x.bf16": the name of the 16-bit form of value x.
std::string narrowName(std::string_view name, ElementType element);
/// The result of a new cast of `value` (of the new graph), with the scope, pin and source location of `like`
/// (of the old graph); "" for `name` gives the name of `like`.
ValueId appendCast(Rewriter& rewriter, ElementType to, ValueId value, OpId like, std::string_view name);

} // namespace dfc
