// Graph files (.dfg): text to Graph. The grammar is in dfc's ir/author/text/README.md. Recursive descent over
// a hand-written lexer, one pass, linear in the text.
//
// All errors of a file come at once, sorted, each with its line, a caret and the way out; what follows only
// from an earlier error is not said. No bytes make it crash or hang: nesting, names and the sum of `fill`
// constants are limited (that README says how much).
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/graph_class.h"

#include <string>
#include <string_view>

namespace DFC_PUBLIC dfc {

/// The largest graph file that is read, in bytes. Large data belongs in array files: = file("w.npy").
inline constexpr uint64_t largestGraphFile = uint64_t(1) << 30;

/// The graph that `text` describes. `fileName` stands in messages and in the source locations of the ops.
Result<Graph> parseGraph(std::string_view text, const std::string& fileName);

/// Reads and parses a file. One that is missing, unreadable, too large or no UTF-8 is an error like any
/// other.
Result<Graph> readGraph(const std::string& path);

} // namespace dfc
