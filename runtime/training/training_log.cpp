// A row is ended when the next one begins, or at a flush, so that an evaluation can still join it.
#include "runtime/training/training_log.h"

#include "ir/base/atomic_file.h"
#include "runtime/files/csv.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

namespace dfc {
namespace {

constexpr uint64_t largestLog = uint64_t(1) << 34;

/// A name as a cell: in quotes where it holds what would end one.
std::string cell(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) {
    return name;
  }
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string headerOf(const TrainingLog::Columns& columns) {
  std::string header = "step,epoch";
  for (const std::string& name : columns.fetches) {
    header += "," + cell(name);
  }
  for (const std::string& name : columns.evaluated) {
    header += "," + cell("eval." + name);
  }
  return header + "\n";
}

/// The fewest digits that read back the same element.
std::string numberText(const Literal& value) {
  const double number = value.at(0);
  return byteWidth(value.type().element) <= 4 && !isInteger(value.type().element)
             ? fmt::format("{}", static_cast<float>(number))
             : fmt::format("{}", number);
}

/// Bytes of `text` up to the end of the last whole row whose step is not above `step`; `begin`: behind the
/// header.
size_t endOfRows(std::string_view text, size_t begin, int64_t step) {
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    int64_t row = 0;
    const auto [stop, failure] = std::from_chars(text.data() + begin, text.data() + text.size(), row);
    if (end == std::string_view::npos || failure != std::errc() || row > step) {
      break;
    }
    begin = end + 1;
  }
  return begin;
}

/// The file's rows up to `step`, header included; the header alone where there is no file.
Result<std::string> keptRows(const std::string& path, const std::string& header, int64_t step) {
  std::error_code ignored;
  if (step == 0 || !std::filesystem::exists(path, ignored)) {
    return header;
  }
  auto text = readTextFile(path, largestLog);
  if (!text) {
    return text.errors();
  }
  if (!text->starts_with(header)) {
    return Diagnostic{Severity::Error,
                      {path, 1},
                      "is the log of another training: its columns are not " +
                          header.substr(0, header.size() - 1),
                      "log to another file"};
  }
  return text->substr(0, endOfRows(*text, header.size(), step));
}

} // namespace

Result<TrainingLog> TrainingLog::open(const std::string& path, Columns columns, int64_t step) {
  const auto rows = keptRows(path, headerOf(columns), step);
  if (!rows) {
    return rows.errors();
  }
  if (const Status written = writeFileAtomically(path, *rows); !written) {
    return written.errors();
  }
  TrainingLog log(path, std::move(columns));
  log.file_.open(path, std::ios::binary | std::ios::app);
  if (const Status opened = log.flush(); !opened) {
    return opened.errors();
  }
  return log;
}

void TrainingLog::add(int64_t step, int64_t epoch, const NamedLiterals& results) {
  endRow({});
  file_ << step << ',' << epoch;
  for (const std::string& name : columns_.fetches) {
    const auto value = results.find(name);
    file_ << ',' << (value == results.end() ? std::string() : numberText(value->second));
  }
  rowIsOpen_ = true;
}

void TrainingLog::addEvaluation(const EvaluatedMeans& means) { endRow(means); }

void TrainingLog::endRow(const EvaluatedMeans& means) {
  if (!rowIsOpen_) {
    return;
  }
  for (const std::string& name : columns_.evaluated) {
    const auto mean = means.find(name);
    file_ << ',' << (mean == means.end() ? std::string() : fmt::format("{}", mean->second));
  }
  file_ << '\n';
  rowIsOpen_ = false;
}

Status TrainingLog::flush() {
  errno = 0;
  endRow({});
  file_.flush();
  if (file_) {
    return success();
  }
  const int code = errno;
  return Diagnostic{Severity::Error,
                    {path_},
                    code == 0 ? std::string("cannot be written")
                              : "cannot be written: " + std::generic_category().message(code),
                    "check the folder, its permissions and the space left"};
}

Result<LearningCurve> readLearningCurve(const std::string& path) {
  const auto table = readCsv(path, {.gaps = true});
  if (!table) {
    return table.errors();
  }
  const CsvColumn* steps = table->find("step");
  LearningCurve curve;
  for (const CsvColumn& column : table->columns) {
    for (int64_t row = 0; row < table->rows && &column != steps && column.name != "epoch"; ++row) {
      curve.add(column.name, steps != nullptr ? steps->values.at(row) : static_cast<double>(row + 1),
                column.values.at(row));
    }
  }
  return curve;
}

} // namespace dfc
