// Graphviz as a child process: DOT in, SVG or PNG out.
#pragma once

#include "ir/base/diagnostic.h"

#include <optional>
#include <string>

namespace dfc::tool {

/// `format`: what `dot -T` takes, "svg" or "png". None where Graphviz took longer than `seconds` and was
/// ended. A missing program or an unhappy one is an error that says what to do.
Result<std::optional<std::string>> renderDot(const std::string& dot, const std::string& format,
                                             double seconds);

} // namespace dfc::tool
