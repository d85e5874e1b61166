// Shared parts of all pictures in DOT: escaping, titles, colours other than devices', the look of nodes and
// the frame of a legend.
#pragma once

#include "ir/draw/dot_palette.h"

#include <string>
#include <string_view>

namespace dfc::dot {

/// A quoted DOT string that shows `text` as it is; ill-formed UTF-8 and control characters are replaced.
std::string quoted(std::string_view text);

/// Text inside an HTML-like label: & < > " escaped, ends of line as <br/>.
std::string html(std::string_view text);

inline constexpr Colour stateColour{"#fff3bf", "#b08800"};  ///< parameters and the ops that write them
inline constexpr Colour sourceColour{"#e6f4ea", "#2d7d46"}; ///< inputs
inline constexpr Colour resultColour{"#f3e8fd", "#7a3fb5"}; ///< fetches

/// A title in large letters and an explanation in small ones below (lines apart by \n), as an HTML-like
/// label.
std::string title(std::string_view title, std::string_view explanation);

/// "digraph NAME {" with the fonts and shapes that all pictures share; the title stands above the picture.
std::string header(std::string_view name, std::string_view title, std::string_view explanation);

/// "  NODE [label=<…>, fillcolor=…, color=…, shape=…];": a bold first line and a smaller second one, which
/// may be empty. Both are plain text.
std::string node(std::string_view id, std::string_view headline, std::string_view details, Colour colour,
                 std::string_view shape = "box");

/// A frame "how to read this": whole statements, and the ids of its nodes from above to below.
std::string legend(const std::vector<std::string>& statements, const std::vector<std::string>& order);

} // namespace dfc::dot
