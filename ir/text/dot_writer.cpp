#include "ir/text/dot_writer.h"

#include <array>

namespace dfc {
namespace {

// Hues of ColorBrewer's "Paired" order of difference, darkened until white text can be read on them.
constexpr std::array<DotColours, 8> palette = {{{"#e3edf7", "#2f6ba8"},
                                                {"#e4f3e1", "#33803a"},
                                                {"#f4e6f5", "#8a3f94"},
                                                {"#fbe5e3", "#b5382f"},
                                                {"#e0f3f3", "#1f7a7a"},
                                                {"#f6ead9", "#8a5a1f"},
                                                {"#e9e6f7", "#5547a8"},
                                                {"#eceff1", "#546e7a"}}};

} // namespace

std::string dotQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '\n') {
      quoted += "\\n";
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      quoted += ' ';
    } else {
      quoted += letter == '"' || letter == '\\' ? "\\" : "";
      quoted += letter;
    }
  }
  return quoted + "\"";
}

DotColours coloursOf(DeviceId device) { return palette[device.index() % palette.size()]; }

std::string wrapped(std::string_view text, size_t width) {
  std::string lines;
  size_t lineLength = 0;
  while (!text.empty()) {
    const size_t cut = text.find_first_of(" /_.", 1);
    const std::string_view word = text.substr(0, cut);
    if (lineLength > 0 && lineLength + word.size() > width) {
      lines += '\n';
      lineLength = 0;
    }
    const std::string_view shown = lineLength == 0 && word.front() == ' ' ? word.substr(1) : word;
    lines += shown;
    lineLength += shown.size();
    text.remove_prefix(word.size());
  }
  return lines;
}

} // namespace dfc
