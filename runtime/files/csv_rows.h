// The rows of a CSV text, one after the other, and what is wrong with its form.
#pragma once

#include "ir/base/diagnostic.h"

#include <string>
#include <string_view>
#include <vector>

namespace dfc {

/// A cell without its quotes, and where it begins.
struct CsvCell {
  std::string text;
  bool quoted = false;
  uint32_t line = 0, column = 0; ///< from 1; columns in code points
  uint32_t width = 0;            ///< code points in the file, quotes included
};

class CsvRows {
 public:
  /// `text` must outlive it.
  CsvRows(std::string_view text, std::string fileName, char separator);
  /// The next row that is not empty; false at the end, and once there are too many mistakes to go on.
  bool next(std::vector<CsvCell>& row);
  /// A mistake of a cell.
  void complain(const CsvCell& cell, std::string message, std::string hint);
  bool clean() const { return errors_.empty(); }
  const Diagnostics& errors() const { return errors_; }

 private:
  bool atEnd() const { return at_ == text_.size(); }
  bool atLineEnd() const { return atEnd() || text_[at_] == '\n' || text_[at_] == '\r'; }
  void step();
  CsvCell readCell();
  void readQuoted(CsvCell& cell);
  void readPlain(CsvCell& cell);
  void endLine();
  std::string_view lineAt(uint32_t line) const;
  std::string_view text_;
  std::string fileName_;
  char separator_;
  size_t at_ = 0;
  uint32_t line_ = 1, column_ = 1;
  std::vector<size_t> lineStarts_{0};
  Diagnostics errors_;
};

} // namespace dfc
