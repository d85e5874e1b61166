// The layout of a schedule's picture: rows, blocks, and labels that have no room in their block
// and hang above it. Inches, y upwards, the first row on top at y <= 0; font sizes in points.
#pragma once

#include "ir/plan/schedule.h"

#include <optional>
#include <string>
#include <vector>

namespace dfc {

/// Steps drawn as one: steps of one scope that follow each other on a queue without a gap.
struct ScheduleBlock {
  QueueId queue;
  double start = 0, end = 0; ///< seconds
  std::string label;         ///< "fc1 forward", or lines of a transfer
  bool transfer = false;
  std::vector<StepId> steps;
  std::string shown;         ///< the label as it fits into the block, or all of it in a callout
  int fontSize = 0;          ///< of `shown`; 0 where there was no room anywhere
  std::optional<size_t> row; ///< of callouts, from the row's blocks upwards; none: the label is in the block
};

struct ScheduleRow {
  QueueId queue;
  double top = 0, bottom = 0; ///< of its band
  double y = 0;               ///< centre of its blocks
};

struct ScheduleLayout {
  static constexpr double blockHeight = 0.52;

  std::vector<ScheduleRow> rows; ///< queues that do something, from above
  std::vector<ScheduleBlock> blocks;
  double inchesPerSecond = 1;
  double width = 0; ///< of the whole makespan
  size_t unlabelled = 0;

  double x(double seconds) const { return seconds * inchesPerSecond; }
  const ScheduleRow& rowOf(QueueId queue) const;
  double bottom() const { return rows.empty() ? 0 : rows.back().bottom; }
};

/// `opsApart`: the ops of a block are drawn in its lower half, so its label has only the upper. As narrow as
/// a screen; wider only where too many labels would have no room. Steps that take no time have no block.
ScheduleLayout layOutSchedule(const Schedule& schedule, const PlacedGraph& placed, bool opsApart);

} // namespace dfc
