#include "ir/draw/dot_writer.h"

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

} // namespace dfc
