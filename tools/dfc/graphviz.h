// Graphviz as a child process: DOT in, SVG or PNG out.
#pragma once

#include "ir/base/diagnostic.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// `format`: what `dot -T` takes, "svg" or "png". A missing program or an unhappy one is an error that says
/// what to do.
Result<std::string> renderDot(const std::string& dot, const std::string& format);

} // namespace dfc::tool
