// displayName: how reports and pictures call an op. Authors name some values; dfc invents the other names
// ("matmul.3", "w2.gradient.2") so that each is unique. Display names leave out the invented parts.
#pragma once

#include "ir/graph/graph.h"

#include <string>

namespace dfc {

/// Whether the op's name only repeats its kind, or the kind of an op that was fused into it: "relu",
/// "matmul.2.2".
bool nameIsMadeUp(const Graph& graph, OpId op);

/// "h0" where the author named it, "gradient of w1", "new w1" for an assign, else `displayKind`.
std::string displayName(const Graph& graph, OpId op);

/// The kind of an op: "matmul", "slice"; for a fused op its parts, at most three: "mul, sub"; "custom saxpy".
std::string displayKind(const Graph& graph, OpId op);

} // namespace dfc
