// Cells go straight into columns of numbers; a cell is kept as text only while it is looked at.
#include "runtime/files/csv.h"

#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"
#include "runtime/files/csv_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace dfc {
namespace {

constexpr uint64_t largestCsv = uint64_t(1) << 36;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

template <class T>
std::optional<T> readNumber(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) {
    text.remove_prefix(1);
  }
  T number = {};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool isEmpty(const CsvCell& cell) { return !cell.quoted && trimmed(cell.text).empty(); }

bool isName(const CsvCell& cell) { return !isEmpty(cell) && !readNumber<double>(cell.text); }

constexpr const char* wordsHint = "name the other columns (FILE.csv:COLUMN,COLUMN), or have its words "
                                  "numbered (FILE.csv:#COLUMN; CsvOptions::words)";

constexpr const char* gapsHint =
    "give a number, or read it where gaps may be NaN (CsvOptions::gaps; in Python "
    "dfc.read_csv(…, gaps=True)), fill them, and save a .npy";

/// The numbers of a column as they come.
class Column {
 public:
  Column(std::string name, bool isWords, bool isRead)
      : name_(std::move(name)), isWords_(isWords), isRead_(isRead) {}
  const std::string& name() const { return name_; }

  void add(const CsvCell& cell, bool gaps, CsvRows& rows) {
    if (!isRead_ || isWords_) {
      return isRead_ ? addWord(cell) : void();
    }
    const auto number = readNumber<double>(cell.text);
    if (number && std::isnan(*number) && !gaps && ++faults_ <= toldFaults) {
      rows.complain(cell, fmt::format("'{}' in column '{}' is no number to compute with", cell.text, name_),
                    gapsHint);
    }
    if (!number && !(gaps && isEmpty(cell)) && ++faults_ <= toldFaults) {
      rows.complain(cell,
                    isEmpty(cell) ? fmt::format("no number in column '{}'", name_)
                                  : fmt::format("'{}' in column '{}' is not a number", cell.text, name_),
                    isEmpty(cell) ? gapsHint : wordsHint);
    }
    addNumber(cell.text, number.value_or(std::nan("")));
  }
  /// Cells without a number that were not told one by one: a column of words is one mistake.
  int64_t untoldFaults() const { return std::max<int64_t>(0, faults_ - toldFaults); }

  CsvColumn taken() && {
    const Shape shape{static_cast<int64_t>(isWords_ ? codes_.size() : reals_.size())};
    if (isWords_) {
      return {std::move(name_), Literal(shape, std::span<const int64_t>(codes_)), std::move(words_)};
    }
    return {std::move(name_),
            allWhole_ ? Literal(shape, std::span<const int64_t>(wholes_))
                      : Literal(shape, std::span<const double>(reals_)),
            {}};
  }

 private:
  void addNumber(std::string_view text, double number) {
    const auto whole = allWhole_ ? readNumber<int64_t>(text) : std::nullopt;
    allWhole_ = whole.has_value();
    wholes_.push_back(whole.value_or(0));
    reals_.push_back(number);
  }

  void addWord(const CsvCell& cell) {
    const std::string word(cell.quoted ? std::string_view(cell.text) : trimmed(cell.text));
    const auto [at, isNew] = codeOf_.emplace(word, static_cast<int64_t>(words_.size()));
    if (isNew) {
      words_.push_back(word);
    }
    codes_.push_back(at->second);
  }

  static constexpr int64_t toldFaults = 3;
  std::string name_;
  bool isWords_, isRead_, allWhole_ = true;
  int64_t faults_ = 0; ///< cells without a number
  std::vector<int64_t> wholes_, codes_;
  std::vector<double> reals_;
  std::vector<std::string> words_;
  std::map<std::string, int64_t> codeOf_;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& fileName, const CsvOptions& options)
      : fileName_(fileName), options_(options), rows_(text, fileName, options.separator) {}

  Result<CsvTable> run() {
    std::vector<CsvCell> row;
    if (!rows_.next(row)) {
      return whole("has no rows", "give a file with at least one");
    }
    if (begin(row)) {
      addRow(row);
    }
    checkNames(options_.words);
    checkNames(options_.columns);
    while (rows_.next(row)) {
      addRow(row);
    }
    if (!rows_.clean() || !errors_.empty()) {
      errors_.insert(errors_.begin(), rows_.errors().begin(), rows_.errors().end());
      tellUntold();
      return errors_;
    }
    CsvTable table;
    table.rows = count_;
    for (const size_t index : chosenColumns()) {
      table.columns.push_back(std::move(columns_[index]).taken());
    }
    return table;
  }

 private:
  Diagnostic whole(std::string message, std::string hint) const {
    return {Severity::Error, {fileName_}, std::move(message), std::move(hint)};
  }

  static bool isAmong(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  bool isRead(const std::string& name) const {
    return options_.columns.empty() || isAmong(options_.columns, name);
  }

  /// In the order of the options.
  std::vector<size_t> chosenColumns() const {
    std::vector<size_t> chosen;
    for (size_t i = 0; i < std::max(options_.columns.size(), columns_.size()); ++i) {
      if (options_.columns.empty()) {
        chosen.push_back(i);
      } else if (i < options_.columns.size()) {
        const auto found = std::find_if(columns_.begin(), columns_.end(), [&](const Column& column) {
          return column.name() == options_.columns[i];
        });
        chosen.push_back(static_cast<size_t>(found - columns_.begin()));
      }
    }
    return chosen;
  }

  /// Makes the columns; whether the first row holds data.
  bool begin(const std::vector<CsvCell>& first) {
    const bool names =
        options_.header == CsvOptions::Header::Names ||
        (options_.header == CsvOptions::Header::Guess && std::all_of(first.begin(), first.end(), isName));
    std::set<std::string> seen;
    for (size_t i = 0; i < first.size(); ++i) {
      std::string name(first[i].quoted ? std::string_view(first[i].text) : trimmed(first[i].text));
      if (!names || name.empty()) {
        name = fmt::format("column {}", i + 1);
      }
      if (!seen.insert(name).second) {
        rows_.complain(first[i], fmt::format("two columns are named '{}'", name), "rename one of them");
      }
      columns_.emplace_back(name, isAmong(options_.words, name), isRead(name));
    }
    return !names;
  }

  /// Names that the options give must be there; a name that is given twice would be taken twice.
  void checkNames(const std::vector<std::string>& given) {
    std::vector<std::string> names;
    for (const Column& column : columns_) {
      names.push_back(column.name());
    }
    for (auto name = given.begin(); name != given.end(); ++name) {
      if (std::find(given.begin(), name, *name) != name) {
        errors_.push_back(whole(fmt::format("column '{}' is asked for twice", *name), "name it once"));
      } else if (!isAmong(names, *name)) {
        const auto near = nearestName(*name, names);
        errors_.push_back(whole(fmt::format("has no column '{}'", *name),
                                near ? fmt::format("did you mean '{}'?", *near)
                                     : fmt::format("its columns: {}", fmt::join(names, ", "))));
      }
    }
  }

  void tellUntold() {
    for (const Column& column : columns_) {
      if (column.untoldFaults() > 0) {
        errors_.push_back(whole(fmt::format("{} of column '{}' without a number",
                                            counted(column.untoldFaults(), "more cell"), column.name()),
                                wordsHint));
      }
    }
  }

  void addRow(const std::vector<CsvCell>& row) {
    if (row.size() != columns_.size()) {
      return rows_.complain(
          row.size() > columns_.size() ? row[columns_.size()] : row.back(),
          fmt::format("a row of {}, where the first has {}", counted(row.size(), "cell"), columns_.size()),
          "give every row as many cells; one that holds the separator stands in quotes");
    }
    ++count_;
    for (size_t i = 0; i < row.size(); ++i) {
      columns_[i].add(row[i], options_.gaps, rows_);
    }
  }

  std::string fileName_;
  const CsvOptions& options_;
  CsvRows rows_;
  std::vector<Column> columns_;
  int64_t count_ = 0;
  Diagnostics errors_;
};

} // namespace

const CsvColumn* CsvTable::find(std::string_view name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const CsvColumn& column) { return column.name == name; });
  return found == columns.end() ? nullptr : &*found;
}

Result<CsvTable> parseCsv(std::string_view text, const std::string& fileName, const CsvOptions& options) {
  if (std::string_view("\"\r\n+-.0123456789").find(options.separator) != std::string_view::npos) {
    return errorWithoutPlace(fmt::format("cells of a CSV file separated by '{}'", options.separator),
                             "give a character that no number has: ',', ';' or a tab");
  }
  return Parser(text, fileName, options).run();
}

Result<CsvTable> readCsv(const std::string& path, const CsvOptions& options) {
  const auto text = readTextFile(path, largestCsv);
  return text ? parseCsv(*text, path, options) : text.errors();
}

} // namespace dfc
