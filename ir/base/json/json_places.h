// Where each value of a JSON text stands, so that an error found in the parsed document can point into the
// file. Assumes a text that a JSON parser has accepted.
#pragma once

#include "ir/base/diagnostic.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace dfc {

/// A range of one line: where it begins, and how many code points it has.
struct JsonPlace {
  uint32_t line = 0, column = 0, width = 1;
};

class JsonPlaces {
 public:
  explicit JsonPlaces(std::string_view text);
  /// Of the value at a path like "links[2].bandwidth"; of the nearest value around it when there is none.
  JsonPlace value(const std::string& path) const;
  /// Of the member's name in quotes.
  JsonPlace key(const std::string& path) const;
  /// Members that repeat a name of their object: the path and where the repetition stands.
  const std::vector<std::pair<std::string, JsonPlace>>& repeated() const { return repeated_; }

 private:
  friend class JsonScanner;
  std::unordered_map<std::string, JsonPlace> values_, keys_;
  std::vector<std::pair<std::string, JsonPlace>> repeated_;
};

/// Line and column (in code points) of a byte offset, both from 1.
JsonPlace placeOfOffset(std::string_view text, size_t offset);
/// The lines of a text without their ends; one more than it has line ends.
std::vector<std::string_view> linesOf(std::string_view text);
/// What an error shows of its line: all of it, made printable, or nothing when it is too long to read.
std::string shownLine(std::string_view line);
/// "a.b[2]" of "a.b[2].c", "a.b" of "a.b[2]", "" of "a".
std::string pathAround(const std::string& path);

} // namespace dfc
