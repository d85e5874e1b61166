// See dot_parts.h.
#include "ir/text/dot_parts.h"

#include "ir/text/quote.h"
#include "ir/text/units.h"

#include <fmt/format.h>

#include <array>

namespace dfc::dot {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text::printable(text)) {
    out += c == '"' || c == '\\' ? "\\" : "";
    out += c;
  }
  return out + '"';
}

std::string html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    for (const char c : text::printable(text.substr(0, end))) {
      switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
      }
    }
    if (end == std::string_view::npos) {
      break;
    }
    out += "<br/>";
    text.remove_prefix(end + 1);
  }
  return out;
}

Colour deviceColour(size_t index) {
  static constexpr std::array<Colour, 8> colours = {{{"#eceff1", "#455a64"},
                                                     {"#bbdefb", "#1565c0"},
                                                     {"#ffccbc", "#bf360c"},
                                                     {"#c8e6c9", "#2e7d32"},
                                                     {"#e1bee7", "#6a1b9a"},
                                                     {"#b2ebf2", "#00838f"},
                                                     {"#ffe0b2", "#e65100"},
                                                     {"#f8bbd0", "#ad1457"}}};
  return colours[index < colours.size() ? index : 1 + (index - 1) % (colours.size() - 1)];
}

std::string header(std::string_view name, std::string_view title) {
  return fmt::format(
      "digraph {} {{\n"
      "  label={};\n"
      "  labelloc=t; labeljust=l; fontsize=18; fontname=\"Helvetica\"; fontcolor=\"#24292f\";\n"
      "  rankdir=TB; ranksep=0.45; nodesep=0.35; bgcolor=\"#ffffff\"; newrank=true;\n"
      "  node [fontname=\"Helvetica\", fontsize=12, style=\"rounded,filled\", penwidth=1.2, "
      "margin=\"0.15,0.07\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, fontcolor=\"#57606a\", color=\"#57606a\", "
      "arrowsize=0.7];\n",
      quoted(name), quoted(title));
}

std::string node(std::string_view id, std::string_view headline, std::string_view details, Colour colour,
                 std::string_view shape) {
  const std::string second =
      details.empty()
          ? ""
          : fmt::format("<br/><font point-size=\"10\" color=\"#57606a\">{}</font>", html(details));
  return fmt::format("{} [label=<<b>{}</b>{}>, shape={}, fillcolor=\"{}\", color=\"{}\"];", id,
                     html(headline), second, shape, colour.fill, colour.border);
}

std::string edgeLabel(const TensorType& type, std::string_view name) {
  const std::string first = name.empty() ? "" : "  " + quoted(name).substr(1);
  return fmt::format("\"{}{}  {}\\l  {}\\l\"", first.substr(0, first.empty() ? 0 : first.size() - 1),
                     name.empty() ? "" : "\\l", toString(type), humanBytes(type.bytes()));
}

} // namespace dfc::dot
