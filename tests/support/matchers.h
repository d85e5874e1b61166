// Matchers of texts, by one name in both versions of Catch2.
#pragma once

#include "tests/support/catch.h"

#include <string>

namespace dfc::test {

inline auto containing(const std::string& text) {
#if DFC_CATCH2_MAJOR >= 3
  return Catch::Matchers::ContainsSubstring(text);
#else
  return Catch::Matchers::Contains(text);
#endif
}
inline auto startingWith(const std::string& text) { return Catch::Matchers::StartsWith(text); }

} // namespace dfc::test
