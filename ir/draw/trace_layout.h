// The layout of a picture of predicted above measured: a band for each queue with ops, in it a row of the
// predicted and below it a row of the measured ops. Inches, y upwards, the
// first band on top at y <= 0; font sizes in points.
#pragma once

#include "ir/plan/trace_step.h"

#include <optional>

namespace dfc {

/// Steps under one label: steps of one scope that follow each other in their row (nearly) without a gap.
struct TraceBlock {
  QueueId queue;
  double begin = 0, end = 0; ///< seconds from the start of the step
  bool measured = false;
  bool transfer = false;
  std::vector<StepId> steps;
  std::string label;         ///< whole
  std::string shown;         ///< as it fits into the block, or in a callout; empty where there was no room
  int fontSize = 0;          ///< of `shown`
  std::optional<size_t> row; ///< of callouts, from the measured row upwards; none: inside the block
};

struct TraceBand {
  QueueId queue;
  double top = 0, bottom = 0;
  double predictedY = 0, measuredY = 0; ///< centres of the rows' boxes
};

struct TraceLayout {
  static constexpr double predictedHeight = 0.36, measuredHeight = 0.42;
  /// Where one makespan is more than so many times the other, each row has a scale of its own.
  static constexpr double farApart = 3;

  std::vector<TraceBand> bands; ///< from above
  std::vector<TraceBlock> blocks;
  double predictedScale = 1, measuredScale = 1; ///< inches a second
  double width = 0;                             ///< of the whole step
  size_t unlabelled = 0;                        ///< measured blocks

  bool oneScale() const { return predictedScale == measuredScale; }
  double x(double seconds, bool measured) const {
    return seconds * (measured ? measuredScale : predictedScale);
  }
  double y(const TraceBand& band, bool measured) const { return measured ? band.measuredY : band.predictedY; }
  static double height(bool measured) { return measured ? measuredHeight : predictedHeight; }
  const TraceBand& bandOf(QueueId queue) const;
  double bottom() const { return bands.empty() ? 0 : bands.back().bottom; }
};

/// As narrow as a screen; wider only where too many measured blocks would have no label.
TraceLayout layOutTrace(const Executable& plan, const TraceStep& predicted, const TraceStep& measured);

} // namespace dfc
