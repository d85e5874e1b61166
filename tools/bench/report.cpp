#include "tools/bench/report.h"

#include <algorithm>

namespace dfc::bench {

std::optional<bool> Check::holds() const {
  if (!atMost && !atLeast) {
    return std::nullopt;
  }
  return (!atMost || ratio <= *atMost) && (!atLeast || ratio >= *atLeast);
}

Check fact(std::string what, bool holds, bool correctness) {
  return {std::move(what), holds ? 1.0 : 0.0, std::nullopt, 1, correctness, true};
}

void Report::add(Row row) {
  if (onRow_) {
    onRow_(row);
  }
  rows_.push_back(std::move(row));
}

std::optional<double> Report::seconds(const std::string& key) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
    return row.key == key && row.who == "dfc" && row.time;
  });
  return found == rows_.end() ? std::nullopt : std::optional(found->time->median);
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
