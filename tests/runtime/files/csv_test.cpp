// CSV files: what is read, and where each mistake is.
#include "runtime/files/csv.h"

#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <cmath>

using namespace dfc;
using namespace dfc::test;

namespace {

CsvTable table(std::string_view text, const CsvOptions& options = {}) {
  auto read = parseCsv(text, "t.csv", options);
  INFO(render(read.errors()));
  REQUIRE(read.ok());
  return *std::move(read);
}

std::string errors(std::string_view text, const CsvOptions& options = {}) {
  const auto read = parseCsv(text, "t.csv", options);
  REQUIRE(!read.ok());
  return render(read.errors());
}

} // namespace

TEST_CASE("csv: numbers, a header that is there or not, whole columns as i64") {
  const CsvTable named = table("\xEF\xBB\xBF"
                               "a,\"b, or c\"\r\n1, 2.5\r\n\r\n-3,+1e2\r\n");
  CHECK(named.rows == 2);
  REQUIRE(named.columns.size() == 2);
  CHECK(named.find("a")->values == Literal::of<int64_t>({2}, {1, -3}));
  CHECK(named.find("b, or c")->values == Literal::of<double>({2}, {2.5, 100}));
  CHECK(named.find("b") == nullptr);
  const CsvTable bare = table("1;2\n3;9007199254740993", {.separator = ';'});
  CHECK(bare.find("column 2")->values == Literal::of<int64_t>({2}, {2, 9007199254740993})); // 2^53 + 1
  const CsvTable gaps = table("a,b\n1,\n,nan\n", {.gaps = true});
  CHECK(gaps.columns[0].values.at(0) == 1);
  CHECK(std::isnan(gaps.columns[0].values.at(1)));
  CHECK(std::isnan(gaps.columns[1].values.at(0)));
}

TEST_CASE("csv: words become numbers in the order in which they first stand") {
  const CsvTable flowers =
      table("width,kind\n1.5,rose\n2,\"lily \"\"white\"\"\"\n3,rose\n", {.words = {"kind"}});
  CHECK(flowers.find("kind")->values == Literal::of<int64_t>({3}, {0, 1, 0}));
  CHECK(flowers.find("kind")->words == std::vector<std::string>{"rose", "lily \"white\""});
}

TEST_CASE("csv: every mistake has its line and column, all at once") {
  CHECK(errors("a,b\n1,2\n3,x y\n4\n5,\n6,7,8\n") ==
        "t.csv:3:3: error: 'x y' in column 'b' is not a number\n"
        "  3,x y\n    ^~~\n"
        "  hint: name the other columns (FILE.csv:COLUMN,COLUMN), or have its words numbered "
        "(FILE.csv:#COLUMN; CsvOptions::words)\n"
        "t.csv:4:1: error: a row of 1 cell, where the first has 2\n"
        "  4\n  ^\n"
        "  hint: give every row as many cells; one that holds the separator stands in quotes\n"
        "t.csv:5:3: error: no number in column 'b'\n"
        "  5,\n    ^\n"
        "  hint: give a number, or read it where gaps may be NaN (CsvOptions::gaps; in Python "
        "dfc.read_csv(…, gaps=True)), fill them, and save a .npy\n"
        "t.csv:6:5: error: a row of 3 cells, where the first has 2\n"
        "  6,7,8\n      ^\n"
        "  hint: give every row as many cells; one that holds the separator stands in quotes\n");
  CHECK_THAT(errors("a,b\n\"1\"2,3\n"),
             containing("t.csv:2:4: error: text behind the closing quote of a cell\n"));
  CHECK_THAT(errors("a,b\n1,\"2\n\n"), containing("t.csv:2:3: error: the quote is never closed\n"));
  CHECK_THAT(errors("a,b\n\xC3\xA4\"b,3\n"), containing("t.csv:2:1: error: a quote within a cell"));
  CHECK_THAT(errors("\xC3\xA4,\xC3\xA4\n1,2\n"),
             containing("t.csv:1:3: error: two columns are named '\xC3\xA4'\n"));
  CHECK_THAT(errors("a\n1e999\n"), containing("t.csv:2:1: error: '1e999' in column 'a' is not a number\n"));
  CHECK_THAT(errors("a,b\n1,2\n3,nan\n"),
             containing("t.csv:3:3: error: 'nan' in column 'b' is no number to compute with\n"));
  CHECK_THAT(errors("\n\n"), containing("t.csv: error: has no rows\n"));
  CHECK_THAT(errors("a,kind\n1,2\n", {.words = {"kin"}}),
             containing("has no column 'kin'\n  hint: did you mean 'kind'?"));
  CHECK_THAT(errors("1\n", {.separator = '.'}), containing("separated by '.'"));
}

TEST_CASE("csv: a column of words is told by its first three cells and a count") {
  std::string text = "a,kind\n";
  for (int row = 0; row < 500; ++row) {
    text += "1,rose\n";
  }
  const std::string told = errors(text.c_str());
  CHECK_THAT(told, containing("t.csv:4:3: error: 'rose' in column 'kind' is not a number\n"));
  CHECK_THAT(told, !containing("t.csv:5:3"));
  CHECK_THAT(told, containing("t.csv: error: 497 more cells of column 'kind' without a number\n"
                              "  hint: name the other columns"));
}
