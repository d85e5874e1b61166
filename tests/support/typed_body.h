// Bodies of fused ops, written once for all element types.
#pragma once

#include "ir/graph/tensor_type.h"

#include <string>

namespace dfc::test {

/// "add:T %0 %1; cast:f32 %2" with the type's name in place of every T.
std::string withType(std::string body, ElementType type);

} // namespace dfc::test
