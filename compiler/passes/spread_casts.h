// Casts from 16-bit floats before fusion.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// Gives every elementwise op and reduction that reads an f32 value cast from a 16-bit float a cast of its
/// own, in its scope, so that the cast can join the reader's group: a group reads half the bytes, and no f32
/// copy is stored for readers in several scopes or groups. Casts with another pin stay shared.
Graph spreadCasts(const Graph& graph);

} // namespace dfc
