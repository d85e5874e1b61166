// foldedName: the common name of equal layers.
#pragma once

#include <string>
#include <string_view>

namespace dfc {

/// "h.*.mlp" of "h.11.mlp": numbers that are words of their own, as those of equal layers are.
std::string foldedName(std::string_view name);

} // namespace dfc
