// State and feeds as the author wrote them: in a split graph an input or a parameter may be a part, or one of
// several copies, of the author's.
#pragma once

#include "ir/graph/graph.h"

namespace dfc {

/// The author's name of an input or parameter: that of which it is a part, or its own.
std::string_view authorNameOf(const Graph& graph, OpId op);
/// The type of the author's input or parameter.
TensorType authorTypeOf(const Graph& graph, OpId op);
/// Where the input or parameter lies in the author's; no part where it is all of it.
const TensorPart& placeOf(const Graph& graph, OpId op);

/// Copies `part` to its place in `whole`; `place` as of `placeOf`.
void putPart(Literal& whole, const TensorPart& place, const Literal& part);

} // namespace dfc
