// See schedule_layout.h. Callouts are placed greedily from right to left, each in the lowest row that has
// room.
#include "ir/draw/schedule_layout.h"

#include "ir/draw/timeline_parts.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr double narrowest = 14.4, widest = 44; // with the rows' names 1600 pixels at 96 a inch
constexpr size_t mostRows = 5;
constexpr double margin = 0.08;

void addBlocks(ScheduleLayout& layout, QueueId queue, const Schedule& schedule, const PlacedGraph& placed,
               const TransferLabels& labels) {
  std::string openScope;
  double openEnd = -1;
  for (const StepId id : schedule.queues[queue].steps) {
    const StepRow& step = schedule.steps[id];
    if (step.end <= step.start) {
      continue;
    }
    const bool transfer = placed.transfers.count(step.op) != 0;
    const std::string scope(transfer ? "" : placed.graph.scopeOf(step.op));
    if (scope.empty() || scope != openScope || openEnd != step.start) {
      layout.blocks.push_back({queue,
                               step.start,
                               step.end,
                               timeline::displayStep(placed, labels, step.op),
                               transfer,
                               {},
                               "",
                               0,
                               {}});
    }
    layout.blocks.back().end = step.end;
    layout.blocks.back().steps.push_back(id);
    openScope = scope;
    openEnd = step.end;
  }
}

bool fitsInside(ScheduleBlock& block, double width, bool opsApart) {
  const bool half = opsApart && block.steps.size() > 1;
  auto label = timeline::fittingLargest(block.label, width, ScheduleLayout::blockHeight * (half ? 0.56 : 1));
  if (label) {
    block.shown = std::move(label->text);
    block.fontSize = label->fontSize;
  }
  return label.has_value();
}

/// Hangs the label above the block's middle; false where no row has room.
bool hang(ScheduleBlock& block, double middle, timeline::Callouts& callouts) {
  std::string label = block.label;
  std::replace(label.begin(), label.end(), '\n', ' ');
  block.row = callouts.place(label, middle);
  if (block.row) {
    block.shown = std::move(label);
    block.fontSize = timeline::Callouts::fontSize;
  }
  return block.row.has_value();
}

// Labels of one row; gives the number of rows of callouts.
size_t labelRow(ScheduleLayout& layout, QueueId queue, bool opsApart) {
  timeline::Callouts callouts(mostRows);
  for (ScheduleBlock& block : llvm::reverse(layout.blocks)) {
    if (block.queue == queue && !fitsInside(block, layout.x(block.end - block.start), opsApart) &&
        !hang(block, layout.x((block.start + block.end) / 2), callouts)) {
      ++layout.unlabelled;
    }
  }
  return callouts.rows();
}

ScheduleLayout layOut(const Schedule& schedule, const PlacedGraph& placed, bool opsApart, double width) {
  const TransferLabels labels(placed);
  ScheduleLayout layout;
  layout.width = width;
  layout.inchesPerSecond = schedule.makespan > 0 ? width / schedule.makespan : 1;
  double top = 0;
  DeviceId device;
  for (const QueueId queue : schedule.queues.ids()) {
    const size_t before = layout.blocks.size();
    addBlocks(layout, queue, schedule, placed, labels);
    if (layout.blocks.size() == before) {
      continue;
    }
    top -= !layout.rows.empty() && device != schedule.queues[queue].device ? 0.14 : 0.03;
    device = schedule.queues[queue].device;
    const double rows = static_cast<double>(labelRow(layout, queue, opsApart));
    const double y = top - margin - rows * timeline::Callouts::height - ScheduleLayout::blockHeight / 2;
    layout.rows.push_back({queue, top, y - ScheduleLayout::blockHeight / 2 - margin, y});
    top = layout.rows.back().bottom;
  }
  return layout;
}

} // namespace

const ScheduleRow& ScheduleLayout::rowOf(QueueId queue) const {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const ScheduleRow& candidate) { return candidate.queue == queue; });
  DFC_ASSERT(row != rows.end(), "a queue without a row");
  return *row;
}

ScheduleLayout layOutSchedule(const Schedule& schedule, const PlacedGraph& placed, bool opsApart) {
  double width = narrowest;
  ScheduleLayout layout = layOut(schedule, placed, opsApart, width);
  while (layout.unlabelled > 0 && width < widest) {
    width = std::min(widest, width * 1.5);
    layout = layOut(schedule, placed, opsApart, width);
  }
  return layout;
}

} // namespace dfc
