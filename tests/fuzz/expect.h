// What a fuzz target may not see broken.
#pragma once

#include <stdexcept>
#include <string>

namespace dfc::test {

inline void expect(bool holds, const std::string& what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

} // namespace dfc::test
