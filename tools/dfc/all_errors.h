// Errors of several checks in one list: a user is told of all at once.
#pragma once

#include "ir/base/diagnostic.h"

namespace dfc::tool {

inline void add(Diagnostics& all, const Diagnostics& more) {
  all.insert(all.end(), more.begin(), more.end());
}

} // namespace dfc::tool
