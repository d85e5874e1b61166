// What a person calls an op. Authors name some values; dfc makes up the other names ("matmul.3",
// "w2.gradient.2") so that each is unique. Pictures show what was meant instead.
#pragma once

#include "ir/graph/graph.h"

#include <string>

namespace dfc {

/// Whether the op's name only repeats what kind of op it is, or was before it was fused: "relu",
/// "matmul.2.2".
bool nameIsMadeUp(const Graph& graph, OpId op);

/// "h0" where the author named it, "gradient of w1", "new w1" for an assign, else what it does: "matmul" or,
/// of a fused op, its parts: "mul, sub".
std::string displayName(const Graph& graph, OpId op);

/// What an op does, without its name: "matmul", "slice"; "mul, sub" of a fused op, at most three parts.
std::string displayKind(const Graph& graph, OpId op);

} // namespace dfc
