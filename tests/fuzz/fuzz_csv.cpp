// CSV files: what is read is a table, read again it is the same, and every refusal has a place.
#include "runtime/files/csv.h"
#include "tests/fuzz/expect.h"
#include "tests/fuzz/targets.h"

namespace dfc::test {
namespace {

CsvOptions optionsBy(unsigned choice) {
  CsvOptions options;
  options.separator = std::string_view(",;\t ")[choice % 4];
  options.header = static_cast<CsvOptions::Header>(choice / 4 % 3);
  options.gaps = (choice & 16U) != 0;
  options.words = (choice & 32U) != 0 ? std::vector<std::string>{"column 1"} : std::vector<std::string>();
  options.columns = (choice & 64U) != 0 ? std::vector<std::string>{"column 1"} : std::vector<std::string>();
  return options;
}

bool same(const CsvTable& a, const CsvTable& b) {
  bool all = a.rows == b.rows && a.columns.size() == b.columns.size();
  for (size_t i = 0; all && i < a.columns.size(); ++i) {
    all = a.columns[i].name == b.columns[i].name && a.columns[i].values == b.columns[i].values &&
          a.columns[i].words == b.columns[i].words;
  }
  return all;
}

void expectTable(const CsvTable& table) {
  for (const CsvColumn& column : table.columns) {
    expect(column.values.type().shape == Shape{table.rows}, "a column of another length");
    for (int64_t row = 0; row < table.rows && !column.words.empty(); ++row) {
      expect(column.values.at(row) < static_cast<double>(column.words.size()), "a word that is not there");
    }
  }
}

} // namespace

void fuzzCsv(std::span<const std::byte> bytes) {
  const unsigned choice = bytes.empty() ? 0 : std::to_integer<unsigned>(bytes[0]);
  const auto rest = bytes.empty() ? bytes : bytes.subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const CsvOptions options = optionsBy(choice);
  const auto table = parseCsv(text, "fuzz", options);
  if (!table.ok()) {
    for (const Diagnostic& error : table.errors()) {
      expect(error.where.file == "fuzz" && !render(error).empty(), "a refusal without a place");
    }
    return;
  }
  expectTable(*table);
  const auto again = parseCsv(text, "again", options);
  expect(again.ok() && same(*table, *again), "read again it is another table");
}

} // namespace dfc::test
