#include "ir/text/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace dfc {
namespace {

// Three significant digits, as much as a reader takes in.
std::string threeDigits(double value, std::string_view unit) {
  const int decimals = value < 10 ? 2 : value < 100 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

} // namespace

std::string humanBytes(int64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"KB", "MB", "GB", "TB", "PB"};
  if (std::abs(bytes) < 1000) {
    return fmt::format("{} B", bytes);
  }
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return threeDigits(value, units[unit]);
}

std::string humanSeconds(double seconds) {
  if (seconds == 0) {
    return "0 s";
  }
  constexpr std::array<std::string_view, 4> units = {"ns", "µs", "ms", "s"};
  double value = seconds * 1e9;
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return threeDigits(value, units[unit]);
}

} // namespace dfc
