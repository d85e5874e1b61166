#include "tools/bench/report.h"

#include <algorithm>

namespace dfc::bench {

std::optional<bool> Check::holds() const {
  if (!atMost && !atLeast) {
    return std::nullopt;
  }
  return (!atMost || ratio <= *atMost) && (!atLeast || ratio >= *atLeast);
}

Check fact(std::string description, bool holds, bool correctness) {
  return {std::move(description), holds ? 1.0 : 0.0, std::nullopt, 1, correctness, true};
}

void Report::add(Row row) {
  if (onRow_) {
    onRow_(row);
  }
  rows_.push_back(std::move(row));
}

bool Report::has(const std::string& key) const {
  return std::any_of(rows_.begin(), rows_.end(),
                     [&](const Row& row) { return row.key == key && row.program == "dfc"; });
}

std::optional<double> Report::seconds(const std::string& key) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
    return row.key == key && row.program == "dfc" && row.time;
  });
  return found == rows_.end() ? std::nullopt : std::optional(found->time->median);
}

void holdScaling(Report& report, const std::vector<std::string>& keys, const std::string& alone,
                 std::optional<double> atLeast) {
  const auto one = report.seconds(alone);
  std::vector<Row*> ways;
  for (Row& row : report.rows()) {
    const bool asked = std::find(keys.begin(), keys.end(), row.key) != keys.end();
    if (one && asked && row.program == "dfc" && row.time) {
      ways.push_back(&row);
    }
  }
  std::sort(ways.begin(), ways.end(),
            [](const Row* a, const Row* b) { return a->time->median < b->time->median; });
  for (Row* way : ways) {
    way->checks.push_back({"scaling over one GPU", *one / way->time->median, std::nullopt,
                           way == ways[0] ? atLeast : std::nullopt});
  }
}

bool Report::anyFailed() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.failed; });
}

bool Report::anyWrong() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const Row& row) {
    return std::any_of(row.checks.begin(), row.checks.end(),
                       [](const Check& check) { return check.correctness && check.holds() == false; });
  });
}

} // namespace dfc::bench
