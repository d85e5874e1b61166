// Where dfc keeps what it could make again.
#pragma once

#include <string>
#include <string_view>

namespace dfc::tool {

/// Folder `name` of dfc in the user's cache, by the XDG base directory specification: variables that are
/// empty or hold no absolute path are as unset. "" where the user has neither variable; it need not exist.
std::string userCacheFolder(std::string_view name);

} // namespace dfc::tool
