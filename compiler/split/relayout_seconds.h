// relayoutSeconds: the price of a change of layout.
#pragma once

#include "compiler/split/layout.h"
#include "compiler/split/mesh.h"

#include <limits>

namespace dfc {

/// The price of an impossible change.
inline constexpr double never = std::numeric_limits<double>::infinity();

/// Seconds in which the bytes of a change of layout reach one device of the mesh, on average over the
/// devices; infinity where there is no way. `type`: the value's.
double relayoutSeconds(const Layout& from, const Layout& to, const TensorType& type, const Mesh& mesh);

} // namespace dfc
