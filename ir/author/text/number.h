// Numbers of a graph file, element by element and to the bit. A float is written with the fewest digits that
// read back to the same bits (std::to_chars); NaN shows its sign and payload. Reading rounds to nearest.
#pragma once

#include "ir/graph/tensor_type.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dfc::text {

/// Appends one stored element. Floats: "0.1", "1e-30", "-0", "inf", "-inf", "nan" (the default quiet NaN) or
/// "nan(0x1)" with the bits of its significand; bool: "true" or "false".
void appendElement(std::string& out, ElementType type, const std::byte* element);
void appendDouble(std::string& out, double value);

/// A number as the parser found it: "-", "nan", "0x2" for -nan(0x2).
struct NumberWords {
  bool negative = false;
  std::string_view word;         ///< digits in decimal or 0x hexadecimal, "inf", "nan", "true", "false"
  std::string_view payload = {}; ///< of nan, with its 0x; empty for the default
};

/// Writes the element (byteWidth bytes) to `out`; gives what is wrong, or "".
std::string readElement(const NumberWords& number, ElementType type, std::byte* out);
std::string readDouble(const NumberWords& number, double& out);
std::string readInteger(const NumberWords& number, int64_t& out);

/// Whether a name stands for a number: inf, nan, true, false.
bool isNumberWord(std::string_view name);

} // namespace dfc::text
