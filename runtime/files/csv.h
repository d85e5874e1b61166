// CSV files (RFC 4180): tables of numbers, a column an array. Cells are separated by commas (or another
// character), and may stand in quotes, in which "" is a quote. Lines may end in CR LF; a byte order mark and
// empty lines are passed over. A file is never trusted: every mistake is told with its line and column, up to
// a hundred at once.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace DFC_PUBLIC dfc {

/// How a CSV file is read.
struct CsvOptions {
  /// Between cells: a comma, a semicolon, a tab or another character of one byte that no number has.
  char separator = ',';
  /// Whether the first row holds names.
  enum class Header : uint8_t {
    Guess, ///< it does where none of its cells is a number or empty
    Names, ///< it does
    None,  ///< it does not: columns are "column 1", "column 2", …
  };
  Header header = Header::Guess; ///< see there
  /// The columns that are read, by name and in this order; empty: all. Others are not looked at.
  std::vector<std::string> columns = {};
  /// Columns of words, by name: each word becomes a number, 0, 1, … in the order in which they first stand.
  std::vector<std::string> words = {};
  /// Whether an empty cell among numbers is NaN, and "nan" may stand there; else both are mistakes.
  bool gaps = false;
};

/// A column of a CSV file.
struct CsvColumn {
  std::string name;               ///< of the header
  Literal values;                 ///< i64[rows] where all numbers are whole and of words, else f64[rows]
  std::vector<std::string> words; ///< what the numbers stand for; empty in a column of numbers
};

/// A CSV file.
struct CsvTable {
  std::vector<CsvColumn> columns; ///< in the order of the options or of the file, all equally long
  int64_t rows = 0;               ///< without the header
  /// The column of this name; null where there is none.
  const CsvColumn* find(std::string_view name) const;
};

/// Every mistake at once, each with line and column.
Result<CsvTable> readCsv(const std::string& path, const CsvOptions& options = {});
/// The same of a text; `fileName` is for messages.
Result<CsvTable> parseCsv(std::string_view text, const std::string& fileName, const CsvOptions& options = {});

} // namespace dfc
