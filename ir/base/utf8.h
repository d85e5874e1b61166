// UTF-8: code points of a text, and how a text of unknown origin is made fit to print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dfc {

/// A byte that continues a code point.
constexpr bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// How many code points: bytes that do not continue one.
uint32_t codePoints(std::string_view text);

/// Bytes of the code point at the beginning; 0 where the text is empty or ill-formed there.
size_t codePointLength(std::string_view text);

/// Whether the text begins with a control character (C0, DEL or C1).
bool startsWithControl(std::string_view text);

/// The offset of the first byte that is no part of well-formed UTF-8; none when all is well.
std::optional<size_t> firstBadUtf8(std::string_view text);

/// `text` without control characters (tabs stay) and without ill-formed UTF-8, each replaced by U+FFFD.
std::string printable(std::string_view text);

} // namespace dfc
