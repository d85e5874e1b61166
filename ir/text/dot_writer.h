// What all pictures share: quoting for Graphviz, the colours of devices, the look of text.
#pragma once

#include "ir/ids.h"

#include <string>
#include <string_view>

namespace dfc {

/// A DOT string: quoted, with quotes, backslashes and line ends escaped, so that it shows as it is.
std::string dotQuoted(std::string_view text);

/// A light and a dark shade of one hue, a device's own; they repeat after eight devices.
struct DotColours {
  std::string_view light, dark;
};
DotColours coloursOf(DeviceId device);

/// Transfers look alike everywhere.
inline constexpr DotColours transferColours = {"#fff1cc", "#b36b00"};

/// `text` broken into lines of at most `width` letters where it has a place to break (space, '/', '_', '.');
/// longer words stay whole.
std::string wrapped(std::string_view text, size_t width);

} // namespace dfc
