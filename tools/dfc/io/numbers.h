// Numbers on the command line: checked as they are written, before anything converts them, so that a slip
// says the legal range in words a person reads; and numbers in reports, with the noun in the right form.
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class Validator;
}

namespace dfc::tool {

/// More steps than any run comes to; products of two of the program's counts are checked against it.
inline constexpr int64_t largestCount = 1'000'000'000'000;

/// Accepts a whole number from `least` to `most`, in decimal.
CLI::Validator wholeNumber(uint64_t least, uint64_t most);
/// Accepts a finite number of seconds from 0 to 1e9.
CLI::Validator seconds();

/// "1 step", "2 steps"; the noun takes a plain "s".
std::string counted(int64_t count, const std::string& noun);

/// Six digits of a real number; "nan" whatever its sign bit, which says nothing.
std::string realText(double number);

} // namespace dfc::tool
