// Several tensor types as one text, "f32[2, 3], i64[]": an attribute that lists the types of results.
#pragma once

#include "ir/graph/op_parts.h"

namespace dfc {

/// "f32[2, 3], i64[]"
std::string typeListText(llvm::ArrayRef<TensorType> types);

/// The types of such a text, at least one; or what is wrong with it, with the way out.
TypeResult typesOfText(std::string_view text);

} // namespace dfc
