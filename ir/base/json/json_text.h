// Text as JSON writes it.
#pragma once

#include <string>
#include <string_view>

namespace dfc {

/// In quotes, escaped; bytes that are no UTF-8 become the replacement character.
std::string jsonQuoted(std::string_view text);

/// The shortest digits that parse to the same double. Asserts that it is finite: JSON has no other numbers.
std::string jsonNumber(double number);

} // namespace dfc
