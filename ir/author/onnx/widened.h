// Element types of ONNX that dfc holds in wider integers.
#pragma once

#include "ir/author/onnx/scope.h"

namespace dfc::onnx {

/// The low bits of whole numbers (i32 or i64), as a narrower type of ONNX's has them; of i64 and u64 all.
Tensor narrowed(Tensor whole, int64_t element);

/// Values held in a wider type flow through ops that move elements, and through those whose results are right
/// in their low bits, which are taken. Throws Unsupported for a node that computes with them otherwise.
void passWidenedOn(OnnxScope& scope, const OnnxNode& node, std::vector<Tensor>& results);

} // namespace dfc::onnx
