#include "ir/text/dot_writer.h"

#include <fmt/format.h>

namespace dfc {

std::string dotQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
    end = text.find('\n');
    const std::string line = dot::quoted(text.substr(0, end));
    quoted += line.substr(1, line.size() - 2) + (end == std::string_view::npos ? "" : "\\n");
  }
  return quoted + "\"";
}

std::string paler(std::string_view colour) { return std::string(colour) + "70"; } // the opacity, of ff

std::string wrapped(std::string_view text, size_t width) {
  std::string lines;
  size_t lineLength = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find_first_of(" /_\n", 1));
    text.remove_prefix(word.size());
    const bool ownEnd = word.front() == '\n';
    if (ownEnd || (lineLength > 0 && lineLength + word.size() > width)) {
      lines += '\n';
      lineLength = 0;
    }
    const bool blank = ownEnd || (lineLength == 0 && word.front() == ' ');
    const std::string_view shown = word.substr(blank ? 1 : 0);
    lines += shown;
    lineLength += shown.size();
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

std::string dotTitle(std::string_view title, std::string_view explanation) {
  return fmt::format("<<FONT POINT-SIZE=\"20\">{}</FONT><BR/><FONT POINT-SIZE=\"12\">{}</FONT>>",
                     dot::html(title), dot::html(explanation));
}

std::string dotHead(std::string_view title, std::string_view explanation) {
  return fmt::format(
      "digraph dfc {{\n"
      "  graph [rankdir=TB, compound=true, newrank=true, nodesep=0.25, ranksep=0.4, labelloc=t,\n"
      "         fontname=\"Helvetica\", fontsize=18, label={}]\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=white, fontname=\"Helvetica\", "
      "fontsize=11, margin=\"0.12,0.06\"]\n"
      "  edge [color=\"#555555\", arrowsize=0.7]\n",
      dotTitle(title, explanation));
}

std::string opCaption(const Graph& graph, OpId op) {
  const OpRow& row = graph[op];
  std::string text = fmt::format("{}  {}", nameOf(row.kind()), toString(graph.typeOf(row.firstResult)));
  if (const auto* constant = row.getIf<ops::Constant>(); constant != nullptr) {
    const Literal& value = constant->value;
    text += value.type().shape.elements() == 1 ? fmt::format(" = {:.6g}", value.at(0)) : "";
  }
  return text;
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
