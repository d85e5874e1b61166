// See schedule_layout.h. Callouts are placed greedily from right to left, each in the lowest row that has
// room.
#include "ir/text/schedule_layout.h"

#include "ir/scope_view.h"
#include "ir/spoken_name.h"
#include "ir/text/dot_writer.h"
#include "ir/text/units.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <array>
#include <limits>

namespace dfc {
namespace {

constexpr double narrowest = 14.4, widest = 44; // with the lanes' names 1600 pixels at 96 a inch
constexpr double letterWidth = 0.0079;          // of one point of font: Helvetica's average with some room
constexpr std::array<int, 4> fontSizes = {13, 12, 11, 10};
constexpr size_t mostRows = 5;
constexpr double margin = 0.08;

std::string labelOf(const StepRow& step, const PlacedGraph& placed) {
  if (const auto transfer = placed.transfers.find(step.op); transfer != placed.transfers.end()) {
    return transferLabel(placed, step.op) + "\n" + humanBytes(transfer->second.bytes);
  }
  const std::string_view scope = placed.graph.scopeOf(step.op);
  return scope.empty() ? spokenName(placed.graph, step.op) : std::string(scope);
}

void addBlocks(ScheduleLayout& layout, QueueId queue, const Schedule& schedule, const PlacedGraph& placed) {
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
      layout.blocks.push_back({queue, step.start, step.end, labelOf(step, placed), transfer, {}, "", 0, {}});
    }
    layout.blocks.back().end = step.end;
    layout.blocks.back().steps.push_back(id);
    openScope = scope;
    openEnd = step.end;
  }
}

/// One lane's rows of callouts. A callout begins at the line that leads down to its block. Lanes are filled
/// from right to left, so each row only remembers where its leftmost callout or line is, and no line crosses
/// a text.
class Callouts {
 public:
  size_t rows() const { return leftmost_.size(); }

  /// Hangs the label above the block's middle; false where no row has room.
  bool place(ScheduleBlock& block, double middle) {
    std::string text = block.label;
    std::replace(text.begin(), text.end(), '\n', ' ');
    const double end = middle + textWidth(text, ScheduleLayout::calloutFont);
    for (size_t row = 0; row < mostRows; ++row) {
      if (row == leftmost_.size()) {
        leftmost_.push_back(std::numeric_limits<double>::infinity());
      }
      if (end + margin <= leftmost_[row]) {
        std::fill_n(leftmost_.begin(), row + 1, middle); // its line goes through the rows below
        block.shown = text;
        block.fontSize = ScheduleLayout::calloutFont;
        block.row = row;
        return true;
      }
    }
    return false;
  }

 private:
  std::vector<double> leftmost_;
};

bool fitsInside(ScheduleBlock& block, double width, bool opsApart) {
  const bool half = opsApart && block.steps.size() > 1;
  const double height = ScheduleLayout::blockHeight * (half ? 0.56 : 1);
  for (const int size : fontSizes) {
    if (auto text = fitting(block.label, width, height, size)) {
      block.shown = *std::move(text);
      block.fontSize = size;
      return true;
    }
  }
  return false;
}

// Labels of one lane; gives the number of rows of callouts.
size_t labelLane(ScheduleLayout& layout, QueueId queue, bool opsApart) {
  Callouts callouts;
  for (ScheduleBlock& block : llvm::reverse(layout.blocks)) {
    if (block.queue == queue && !fitsInside(block, layout.x(block.end - block.start), opsApart) &&
        !callouts.place(block, layout.x((block.start + block.end) / 2))) {
      ++layout.unlabelled;
    }
  }
  return callouts.rows();
}

ScheduleLayout layOut(const Schedule& schedule, const PlacedGraph& placed, bool opsApart, double width) {
  ScheduleLayout layout;
  layout.width = width;
  layout.inchesPerSecond = schedule.makespan > 0 ? width / schedule.makespan : 1;
  double top = 0;
  DeviceId device;
  for (const QueueId queue : schedule.queues.ids()) {
    const size_t before = layout.blocks.size();
    addBlocks(layout, queue, schedule, placed);
    if (layout.blocks.size() == before) {
      continue;
    }
    top -= !layout.lanes.empty() && device != schedule.queues[queue].device ? 0.14 : 0.03;
    device = schedule.queues[queue].device;
    const double rows = static_cast<double>(labelLane(layout, queue, opsApart));
    const double y = top - margin - rows * ScheduleLayout::calloutHeight - ScheduleLayout::blockHeight / 2;
    layout.lanes.push_back({queue, top, y - ScheduleLayout::blockHeight / 2 - margin, y});
    top = layout.lanes.back().bottom;
  }
  return layout;
}

} // namespace

const ScheduleLane& ScheduleLayout::laneOf(QueueId queue) const {
  const auto lane = std::find_if(lanes.begin(), lanes.end(),
                                 [&](const ScheduleLane& candidate) { return candidate.queue == queue; });
  DFC_ASSERT(lane != lanes.end(), "a queue without a lane");
  return *lane;
}

double textWidth(const std::string& text, int fontSize) {
  return static_cast<double>(text.size()) * letterWidth * fontSize;
}

std::optional<std::string> fitting(const std::string& text, double width, double height, int fontSize) {
  const auto letters = static_cast<size_t>(std::max(0.0, (width - 0.05) / (letterWidth * fontSize)));
  std::string lines = wrapped(text, letters);
  size_t longest = 0, count = 1, length = 0;
  for (const char letter : lines) {
    count += letter == '\n' ? 1 : 0;
    length = letter == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  const bool fits = longest <= letters && static_cast<double>(count) * fontSize * 1.2 / 72 <= height;
  return fits ? std::optional(std::move(lines)) : std::nullopt;
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
