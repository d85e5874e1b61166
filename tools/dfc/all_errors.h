// Errors of several checks in one list: a user is told of all at once, and of each once: two options may read
// one broken file.
#pragma once

#include "ir/base/diagnostic.h"

#include <algorithm>

namespace dfc::tool {

inline void add(Diagnostics& all, const Diagnostics& more) {
  const auto isSame = [](const Diagnostic& a, const Diagnostic& b) {
    return a.where == b.where && a.message == b.message && a.hint == b.hint;
  };
  for (const Diagnostic& one : more) {
    if (std::none_of(all.begin(), all.end(), [&](const Diagnostic& other) { return isSame(one, other); })) {
      all.push_back(one);
    }
  }
}

} // namespace dfc::tool
