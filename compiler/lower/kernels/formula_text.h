// Formula ops as device functions of the prelude, from their bodies.
#pragma once

#include "ir/graph/op_kind.h"

#include <string>

namespace dfc::cuda {

/// The name of the device function of a formula op: "siluOf".
std::string formulaFunction(OpKind kind, uint8_t variant);

/// The functions of all formula ops, templates over f32 and f64, but for those that the prelude has by hand.
std::string formulaFunctions();

} // namespace dfc::cuda
