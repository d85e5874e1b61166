// Which sources this program was built from.
#pragma once

#include <string>

namespace dfc::tool {

/// The release and `git describe` of the sources as they were built: "0.1.0-1f2e3d4c5b6a-dirty".
std::string sourceVersion();

} // namespace dfc::tool
