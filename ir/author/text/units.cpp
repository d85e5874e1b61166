// See units.h.
#include "ir/author/text/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace dfc {
namespace {

constexpr std::array<std::string_view, 6> prefixes = {"", "K", "M", "G", "T", "P"};

// Three significant digits of a number from 0.5 to 999.5: 1.20, 35.0, 141.
std::string threeDigits(double value) {
  const double magnitude = std::abs(value);
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

/// The value in the largest unit of which it is at least one, and the unit's prefix.
template <class Number>
std::pair<Number, std::string_view> inUnits(Number value) {
  size_t prefix = 0;
  while (std::abs(value) >= Number(999.5L) && prefix + 1 < prefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return {value, prefixes[prefix]};
}

std::string scaled(double value, std::string_view unit) {
  const auto [number, prefix] = inUnits(value);
  return fmt::format("{} {}{}", threeDigits(number), prefix, unit);
}

std::string scaled(int64_t value, int digits, std::string_view unit) {
  const auto [number, prefix] = inUnits(static_cast<long double>(value));
  return fmt::format("{:.{}g} {}{}", number, digits, prefix, unit);
}

} // namespace

std::string humanBytes(int64_t bytes) {
  if (bytes > -1000 && bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  return scaled(static_cast<double>(bytes), "B");
}

std::pair<std::string, std::string> humanBytesApart(int64_t a, int64_t b) {
  std::pair<std::string, std::string> texts = {humanBytes(a), humanBytes(b)};
  constexpr int mostDigits = 19; // of a 64-bit number
  for (int digits = 4; a != b && texts.first == texts.second && digits <= mostDigits; ++digits) {
    texts = {scaled(a, digits, "B"), scaled(b, digits, "B")};
  }
  return texts;
}

std::string humanSeconds(double seconds) {
  if (seconds == 0 || !std::isfinite(seconds)) {
    return fmt::format("{} s", seconds);
  }
  constexpr std::array<std::string_view, 3> units = {"ns", "µs", "ms"};
  double value = seconds * 1e9;
  for (const std::string_view unit : units) {
    if (std::abs(value) < 999.5) {
      return fmt::format("{} {}", threeDigits(value), unit);
    }
    value /= 1000;
  }
  return fmt::format("{} s", threeDigits(value));
}

std::string humanRate(double bytesPerSecond) { return scaled(bytesPerSecond, "B/s"); }

std::string humanFlops(double flops) { return scaled(flops, "FLOP"); }

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun,
                     count == 1                                 ? ""
                     : noun.back() == 'h' || noun.back() == 'x' ? "es"
                                                                : "s");
}

} // namespace dfc
