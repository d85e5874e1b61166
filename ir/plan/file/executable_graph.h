// The graph in a plan file. For ir/executable_*.cpp only.
#pragma once

#include "ir/graph/graph.h"
#include "ir/plan/file/executable_schema.h"

#include <span>

namespace dfc {

/// Builds the graph of a verified buffer anew, op by op, by the type rules; what the file says of types and
/// names must agree. `constants` are the bytes of its literals, all of them. Errors have no place.
Result<Graph> readPlanGraph(const file::Plan& plan, std::span<const std::byte> constants);

} // namespace dfc
