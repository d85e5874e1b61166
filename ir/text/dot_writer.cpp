#include "ir/text/dot_writer.h"

#include <fmt/format.h>

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

DotShape shapeOf(OpKind kind) {
  if (kind == OpKind::Parameter) {
    return {"cylinder", "filled"};
  }
  if (kind == OpKind::Input) {
    return {"invhouse", "filled"};
  }
  return kind == OpKind::Constant ? DotShape{"note", "filled"} : DotShape{"box", "rounded,filled"};
}

std::string dotHead(std::string_view title) {
  return fmt::format(
      "digraph dfc {{\n"
      "  graph [rankdir=TB, compound=true, newrank=true, nodesep=0.25, ranksep=0.4, labelloc=t,\n"
      "         fontname=\"Helvetica\", fontsize=18, label={}]\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", "
      "fontsize=11, margin=\"0.12,0.06\"]\n"
      "  edge [color=\"#555555\", arrowsize=0.7]\n",
      dotQuoted(title));
}

std::string dotFetches(const Graph& graph) {
  std::string text;
  size_t number = 0;
  for (const Fetch& fetch : graph.fetches()) {
    text += fmt::format("  fetch{} [shape=house, style=filled, label={}]\n  op{} -> fetch{}\n", number,
                        dotQuoted(fmt::format("fetch {}", graph.text(fetch.name))),
                        graph[fetch.value].producer.index(), number);
    ++number;
  }
  return text;
}

} // namespace dfc
