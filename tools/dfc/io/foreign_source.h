// Files that are no graphs and are given in the place of one: data, weights, machines, models of frameworks.
// What they are is told by their ending, with the option or the program that takes them.
#pragma once

#include "ir/base/diagnostic.h"

#include <optional>
#include <string>

namespace dfc::tool {

/// None for graph files, ONNX models, plans, and endings that say nothing.
std::optional<Diagnostic> foreignSource(const std::string& path);

} // namespace dfc::tool
