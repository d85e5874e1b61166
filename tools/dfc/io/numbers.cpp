#include "tools/dfc/io/numbers.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace dfc::tool {
namespace {

/// Whether the whole text is one number of type T.
template <class T>
bool reads(const std::string& text, T& number) {
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end;
}

} // namespace

// The description stays empty: in the help, the name of the value says what it is.
CLI::Validator wholeNumber(uint64_t least, uint64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) {
        uint64_t number = 0;
        const bool legal = reads(text, number) && number >= least && number <= most;
        return legal ? std::string()
                     : fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
      },
      "");
}

CLI::Validator seconds() {
  return CLI::Validator(
      [](const std::string& text) {
        double number = 0;
        const bool legal = reads(text, number) && number >= 0 && number <= 1e9;
        return legal ? std::string()
                     : fmt::format("'{}' is not a number of seconds from 0 to 1000000000", text);
      },
      "");
}

std::string counted(int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string realText(double number) { return std::isnan(number) ? "nan" : fmt::format("{:.6g}", number); }

} // namespace dfc::tool
