// Name patterns: '*' stands for any run of characters, also none and also across '/', '?' for one.
#pragma once

#include <string_view>

namespace dfc {

/// Whether all of `text` matches `pattern`. Time is at most |pattern| x |text|.
bool globMatches(std::string_view pattern, std::string_view text);

} // namespace dfc
