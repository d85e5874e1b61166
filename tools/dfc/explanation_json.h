// What `dfc explain --json` says.
#pragma once

#include "compiler/explain/explanation.h"

namespace dfc::tool {

/// A JSON object with everything that an explanation holds; what it lacks is null.
std::string explanationJson(const Explanation& explanation);

} // namespace dfc::tool
