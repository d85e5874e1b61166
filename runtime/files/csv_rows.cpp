// A hand-written scanner: byte by byte, columns counted in code points.
#include "runtime/files/csv_rows.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr size_t mostErrors = 100;
constexpr size_t longestShownLine = 200;
constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

bool continuesCodePoint(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

} // namespace

CsvRows::CsvRows(std::string_view text, std::string fileName, char separator)
    : text_(text), fileName_(std::move(fileName)), separator_(separator) {
  if (text_.starts_with(byteOrderMark)) {
    text_.remove_prefix(byteOrderMark.size());
  }
}

bool CsvRows::next(std::vector<CsvCell>& row) {
  while (!atEnd() && atLineEnd()) {
    endLine();
  }
  row.clear();
  if (atEnd() || errors_.size() >= mostErrors) {
    return false;
  }
  for (;;) {
    row.push_back(readCell());
    if (atLineEnd()) {
      endLine();
      return true;
    }
    step(); // the separator
  }
}

CsvCell CsvRows::readCell() {
  CsvCell cell;
  cell.line = line_;
  cell.column = column_;
  cell.quoted = !atEnd() && text_[at_] == '"';
  cell.quoted ? readQuoted(cell) : readPlain(cell);
  cell.width = line_ == cell.line ? std::max<uint32_t>(column_ - cell.column, 1) : 1;
  return cell;
}

void CsvRows::readPlain(CsvCell& cell) {
  const size_t begin = at_;
  while (!atLineEnd() && text_[at_] != separator_) {
    step();
  }
  cell.text = text_.substr(begin, at_ - begin);
  if (cell.text.find('"') != std::string::npos) {
    cell.width = std::max<uint32_t>(column_ - cell.column, 1);
    complain(cell, "a quote within a cell that does not begin with one",
             "put the whole cell in quotes, and write a quote in it as \"\"");
  }
}

void CsvRows::readQuoted(CsvCell& cell) {
  step();
  for (;; step()) {
    if (atEnd()) {
      return complain(cell, "the quote is never closed", "end the cell with a quote");
    }
    if (text_[at_] == '"') {
      step();
      if (atEnd() || text_[at_] != '"') {
        break;
      }
    }
    cell.text += text_[at_];
  }
  if (atLineEnd() || text_[at_] == separator_) {
    return;
  }
  CsvCell behind;
  behind.line = line_;
  behind.column = column_;
  complain(behind, "text behind the closing quote of a cell", "write a quote within a cell as \"\"");
  while (!atLineEnd() && text_[at_] != separator_) {
    step();
  }
}

/// One byte further.
void CsvRows::step() {
  const char byte = text_[at_++];
  if (byte == '\n') {
    ++line_;
    column_ = 1;
    lineStarts_.push_back(at_);
  } else if (!continuesCodePoint(byte)) {
    ++column_;
  }
}

/// Over LF, CR LF or a CR alone.
void CsvRows::endLine() {
  if (!atEnd() && text_[at_] == '\r') {
    step();
    if (atEnd() || text_[at_] != '\n') { // ended by CR alone
      ++line_;
      column_ = 1;
      lineStarts_.push_back(at_);
      return;
    }
  }
  if (!atEnd() && text_[at_] == '\n') {
    step();
  }
}

void CsvRows::complain(const CsvCell& cell, std::string message, std::string hint) {
  if (errors_.size() >= mostErrors) {
    return;
  }
  Diagnostic error{Severity::Error, {fileName_, cell.line, cell.column}, std::move(message), std::move(hint)};
  const std::string_view line = lineAt(cell.line);
  if (line.size() <= longestShownLine) {
    error.lineText = line;
    error.width = std::max<uint32_t>(cell.width, 1);
  }
  errors_.push_back(std::move(error));
}

std::string_view CsvRows::lineAt(uint32_t line) const {
  const size_t begin = line - 1 < lineStarts_.size() ? lineStarts_[line - 1] : text_.size();
  return text_.substr(begin, text_.find_first_of("\r\n", begin) - begin);
}

} // namespace dfc
