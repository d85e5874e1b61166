// Shared parts of pictures of placed graphs and schedules, beyond ir/draw/dot_parts.h: text in lines, shapes.
#pragma once

#include "ir/draw/dot_parts.h"
#include "ir/graph/graph.h"

#include <string>
#include <string_view>

namespace dfc {

/// A DOT string of several lines that shows as it is.
std::string dotQuoted(std::string_view text);

/// Transfers look alike everywhere.
inline constexpr dot::Colour transferColour{"#fff1cc", "#b36b00"};

/// A colour half as strong, for the ground that boxes stand on.
std::string paler(std::string_view colour);

/// `text` broken into lines of at most `width` letters where it has a place to break (its own line ends,
/// spaces,
/// '/', '_'); longer words stay whole.
std::string wrapped(std::string_view text, size_t width);

/// The shape of an op: a cylinder for state, a house for inputs, a note for constants, else a box.
struct DotShape {
  std::string_view shape, style;
};
DotShape shapeOf(OpKind kind);

} // namespace dfc
