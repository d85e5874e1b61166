// Names and strings of a graph file: when a name needs quotes, how a string is written so that any bytes read
// back the same, and how a text is shown inside a message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dfc::text {

/// [A-Za-z_][A-Za-z0-9_.]*, and none of the words that are numbers (inf, nan, true, false).
bool isPlainName(std::string_view name);

/// Appends the name as it is where it is plain, else as a quoted string.
void appendName(std::string& out, std::string_view name);

/// The same as a text of its own, for printed forms: always one line.
std::string written(std::string_view name);

/// Appends a quoted string. Escapes: \" \\ \n \t \r, and \xNN for other control characters and for bytes that
/// are no UTF-8.
void appendQuoted(std::string& out, std::string_view text);

/// The bytes that a quoted string stands for; none when an escape is not known. `quoted` has its quotes.
/// Besides the escapes above, \u{HEX} is a code point.
std::optional<std::string> unquote(std::string_view quoted);

/// The way out where `unquote` gives none.
inline constexpr std::string_view knownEscapes =
    R"(the escapes are \" \\ \n \t \r \xNN (a byte) and \u{N} (a code point))";

/// 'text' for a message: control characters escaped, the middle of a long one left out.
std::string shown(std::string_view text);

} // namespace dfc::text
