#include "ir/draw/folded_name.h"

#include <llvm/ADT/StringExtras.h>

namespace dfc {

std::string foldedName(std::string_view name) {
  const auto isBorder = [](char c) { return c == '.' || c == '/' || c == ' '; };
  std::string folded;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && llvm::isDigit(name[end])) {
      ++end;
    }
    const bool isWord =
        end > at && (at == 0 || isBorder(name[at - 1])) && (end == name.size() || isBorder(name[end]));
    folded += isWord ? "*" : std::string(name.substr(at, std::max<size_t>(end - at, 1)));
    at = std::max(end, at + 1);
  }
  return folded;
}

} // namespace dfc
