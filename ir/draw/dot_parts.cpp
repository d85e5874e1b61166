// See dot_parts.h.
#include "ir/draw/dot_parts.h"
#include "ir/base/utf8.h"

#include "ir/author/text/quote.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace dfc::dot {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    out += c == '"' || c == '\\' ? "\\" : "";
    out += c;
  }
  return out + '"';
}

std::string html(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    for (const char c : printable(text.substr(0, end))) {
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

std::string title(std::string_view title, std::string_view explanation) {
  const std::string second =
      explanation.empty()
          ? ""
          : fmt::format("<font point-size=\"12\" color=\"#57606a\">{}</font><br/>", html(explanation));
  return fmt::format("<<font point-size=\"20\">{}</font><br/>{}>", title.empty() ? "graph" : html(title),
                     second);
}

std::string header(std::string_view name, std::string_view titleText, std::string_view explanation) {
  return fmt::format(
      "digraph {} {{\n"
      "  label={};\n"
      "  labelloc=t; fontsize=18; fontname=\"Helvetica\"; fontcolor=\"#24292f\";\n"
      "  rankdir=TB; ranksep=0.4; nodesep=0.2; bgcolor=\"#ffffff\"; newrank=true; compound=true;\n"
      "  node [fontname=\"Helvetica\", fontsize=12, shape=box, style=\"rounded,filled\", penwidth=1.2, "
      "margin=\"0.12,0.06\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=9, fontcolor=\"#57606a\", color=\"#57606a\", "
      "arrowsize=0.7];\n",
      quoted(name), title(titleText, explanation));
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

std::string legend(const std::vector<std::string>& statements, const std::vector<std::string>& order) {
  std::string text = "  subgraph cluster_legend {\n    label=\"how to read this\"; labeljust=l; fontsize=11; "
                     "style=\"rounded\"; color=\"#d0d7de\"; fontcolor=\"#57606a\"; bgcolor=\"#ffffff\";\n";
  for (const std::string& statement : statements) {
    text += fmt::format("    {}\n", statement);
  }
  if (order.size() > 1) {
    text += fmt::format("    {{ {} [style=invis]; }}\n", fmt::join(order, " -> "));
  }
  return text + "  }\n";
}

} // namespace dfc::dot
