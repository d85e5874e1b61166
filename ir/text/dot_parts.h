// What every picture in DOT shares: escaping, the colours of devices, the look of nodes and clusters, and a
// label that says what moves along an edge. Colours are light enough for black text and differ in lightness
// too, so that they survive a grey printer.
#pragma once

#include "ir/tensor_type.h"

#include <string>
#include <string_view>

namespace dfc::dot {

/// A quoted DOT string that shows `text` as it is; ill-formed UTF-8 and control characters are replaced.
std::string quoted(std::string_view text);

/// Text inside an HTML-like label: & < > " escaped, ends of line as <br/>.
std::string html(std::string_view text);

struct Colour {
  std::string_view fill;
  std::string_view border;
};

/// The colours of the device with this number (a machine's order): the host and up to seven others are told
/// apart, more repeat.
Colour deviceColour(size_t index);
inline constexpr Colour noDevice{"#ffffff", "#57606a"};
inline constexpr Colour stateColour{"#fff3bf", "#b08800"};  ///< parameters and what writes them
inline constexpr Colour sourceColour{"#e6f4ea", "#2d7d46"}; ///< inputs
inline constexpr Colour resultColour{"#f3e8fd", "#7a3fb5"}; ///< fetches

/// "digraph NAME {" with the fonts and shapes that all pictures share; `title` stands above the picture.
std::string header(std::string_view name, std::string_view title);

/// "  NODE [label=<…>, fillcolor=…, color=…, shape=…];": a bold first line and a smaller second one, which
/// may be empty. Both are plain text.
std::string node(std::string_view id, std::string_view headline, std::string_view details, Colour colour,
                 std::string_view shape = "box");

/// "f32[128, 784]" and "401 KB" on two lines as a DOT string, below `name` where there is one; set off from
/// the line.
std::string edgeLabel(const TensorType& type, std::string_view name = {});

} // namespace dfc::dot
