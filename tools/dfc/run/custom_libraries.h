// The libraries of functions that custom ops call (`--custom`).
#pragma once

#include "ir/graph/custom_function.h"

#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dfc::tool {

/// Adds --custom, which may be given several times.
void addCustomOption(CLI::App& verb, std::vector<std::string>& libraries);

/// The functions of all libraries. Errors: one that cannot be opened, and a name that two of them have.
CustomFunctions customFunctionsOf(const std::vector<std::string>& libraries, Diagnostics& errors);

} // namespace dfc::tool
