// What `dfc-bench` makes of rows once they are measured.
#include "tests/support/catch.h"
#include "tools/bench/report.h"

using namespace dfc::bench;

namespace {

Row rowOf(const std::string& key, double seconds, const std::string& who = "dfc") {
  Row row;
  row.key = key;
  row.who = who;
  row.time = Spread{seconds, seconds, seconds, 7};
  return row;
}

} // namespace

TEST_CASE("dfc-bench: of several ways over two GPUs the quickest has to scale") {
  Report report;
  for (const Row& row : {rowOf("one", 18), rowOf("weights", 12), rowOf("weights", 1, "peer"),
                         rowOf("exchange", 10), rowOf("other", 2)}) {
    report.add(row);
  }
  holdScaling(report, {"weights", "exchange"}, "one", 1.8);
  const auto& rows = report.rows();
  REQUIRE(rows[1].checks.size() == 1);
  CHECK(rows[1].checks[0].ratio == 1.5);
  CHECK_FALSE(rows[1].checks[0].holds());
  REQUIRE(rows[3].checks.size() == 1);
  CHECK(rows[3].checks[0].ratio == 1.8);
  CHECK(rows[3].checks[0].holds() == std::optional(true));
  for (const size_t untouched : {0, 2, 4}) {
    CHECK(rows[untouched].checks.empty());
  }
}

TEST_CASE("dfc-bench: nothing scales over what was not measured, and the slower way never answers for it") {
  Report report;
  report.add(rowOf("weights", 12));
  holdScaling(report, {"weights"}, "one", 1.8);
  CHECK(report.rows()[0].checks.empty());
  report.add(rowOf("one", 18));
  holdScaling(report, {"weights", "exchange"}, "one", 1.8);
  REQUIRE(report.rows()[0].checks.size() == 1);
  CHECK(report.rows()[0].checks[0].holds() == std::optional(false));
}
