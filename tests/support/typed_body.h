// Bodies of fused ops, written once for all element types.
#pragma once

#include "ir/base/assert.h"
#include "ir/graph/tensor_type.h"

#include <string>

namespace dfc::test {

/// "add:T %0 %1; cast:f32 %2" with the type's name in place of every T.
std::string withType(std::string body, ElementType type);

/// A fused op (ops::Fused, ops::FusedMatmul) of that body.
template <class Op>
Op withBody(std::string body, ElementType type) {
  Op op;
  DFC_ASSERT(op.body.decode(withType(std::move(body), type)), "a test's body is well formed");
  return op;
}

} // namespace dfc::test
