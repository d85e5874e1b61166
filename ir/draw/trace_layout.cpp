// See trace_layout.h. Labels of measured blocks without room in their block hang above it, filled in from
// right to left; predicted blocks, which are the same steps once more, have a label only where it fits.
#include "ir/draw/trace_layout.h"

#include "ir/draw/timeline_parts.h"
#include "ir/plan/executable_parts.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc {
namespace {

constexpr double narrowestTrace = 14.4, widestTrace = 30; // with the rows' names 1700 pixels at 96 a inch
constexpr size_t mostTraceRows = 5;
constexpr double traceMargin = 0.07;
constexpr double laneGap = 0.05;
constexpr double joint = 0.06;  // inches between two steps of one scope that still are one block
constexpr double sliver = 0.03; // a step that was to take no time and is no wider than this has no label

class TraceLayOut {
 public:
  TraceLayOut(const Executable& plan, const TraceStep& predicted, const TraceStep& measured, double width)
      : plan_(plan), schedule_(plan.schedule()), predicted_(predicted), measured_(measured),
        labels_(plan.placed()) {
    layout_.width = width;
    const double longest = std::max(predicted.makespan, measured.makespan);
    const double shortest = std::min(predicted.makespan, measured.makespan);
    const bool apart = shortest > 0 && longest > TraceLayout::farApart * shortest;
    layout_.predictedScale = scale(apart ? predicted.makespan : longest);
    layout_.measuredScale = scale(apart ? measured.makespan : longest);
  }

  TraceLayout run() {
    double top = 0;
    DeviceId device;
    for (const QueueId queue : schedule_.queues.ids()) {
      const size_t before = layout_.blocks.size();
      addBlocks(queue, false);
      addBlocks(queue, true);
      if (layout_.blocks.size() > before) {
        top -= !layout_.bands.empty() && device != schedule_.queues[queue].device ? 0.14 : 0.04;
        device = schedule_.queues[queue].device;
        addBand(queue, top, before);
        top = layout_.bands.back().bottom;
      }
    }
    return std::move(layout_);
  }

 private:
  double scale(double makespan) const { return makespan > 0 ? layout_.width / makespan : 1; }

  const Interval& at(StepId step, bool measured) const {
    return measured ? measured_.at[step] : predicted_.at[step];
  }

  void addBlocks(QueueId queue, bool measured) {
    std::string openScope;
    for (const StepId step : schedule_.queues[queue].steps) {
      const Interval& time = at(step, measured);
      if (time.end <= time.begin) {
        continue;
      }
      const OpId op = schedule_.steps[step].op;
      const bool transfer = plan_.placed().transfers.count(op) != 0;
      const std::string scope(transfer ? "" : plan_.graph().scopeOf(op));
      const bool goesOn = !scope.empty() && scope == openScope &&
                          layout_.blocks.back().measured == measured &&
                          layout_.x(time.begin - layout_.blocks.back().end, measured) <= joint;
      if (!goesOn) {
        layout_.blocks.push_back({queue,
                                  time.begin,
                                  time.end,
                                  measured,
                                  transfer,
                                  {},
                                  timeline::displayStep(plan_.placed(), labels_, op),
                                  "",
                                  0,
                                  std::nullopt});
      }
      layout_.blocks.back().end = std::max(layout_.blocks.back().end, time.end);
      layout_.blocks.back().steps.push_back(step);
      openScope = scope;
    }
  }

  void addBand(QueueId queue, double top, size_t firstBlock) {
    timeline::Callouts callouts(mostTraceRows);
    for (size_t i = layout_.blocks.size(); i-- > firstBlock;) {
      const bool goesOn = i > firstBlock && layout_.blocks[i - 1].measured == layout_.blocks[i].measured &&
                          layout_.blocks[i - 1].label == layout_.blocks[i].label;
      label(layout_.blocks[i], goesOn, callouts);
    }
    const double predictedY = top - traceMargin - TraceLayout::predictedHeight / 2;
    const double measuredY = predictedY - (TraceLayout::predictedHeight + TraceLayout::measuredHeight) / 2 -
                             laneGap - static_cast<double>(callouts.rows()) * timeline::Callouts::height;
    layout_.bands.push_back(
        {queue, top, measuredY - TraceLayout::measuredHeight / 2 - traceMargin, predictedY, measuredY});
  }

  /// `goesOn`: the block before has the same label.
  void label(TraceBlock& block, bool goesOn, timeline::Callouts& callouts) {
    const double width = layout_.x(block.end - block.begin, block.measured);
    if (auto inside = labelInside(block, width)) {
      block.shown = std::move(inside->text);
      block.fontSize = inside->fontSize;
    } else if (block.measured && !goesOn && !isSliver(block, width)) {
      std::string line = block.label;
      std::replace(line.begin(), line.end(), '\n', ' ');
      block.row = callouts.place(line, layout_.x((block.begin + block.end) / 2, true));
      block.shown = block.row ? line : "";
      block.fontSize = timeline::Callouts::fontSize;
      layout_.unlabelled += block.row ? 0 : 1;
    }
  }

  /// Where there is no other place for it, a label without its second line is better than none.
  static std::optional<timeline::Fitted> labelInside(const TraceBlock& block, double width) {
    const double height = TraceLayout::height(block.measured);
    auto inside = timeline::fittingLargest(block.label, width, height);
    return inside || block.measured
               ? inside
               : timeline::fittingLargest(block.label.substr(0, block.label.find('\n')), width, height);
  }

  bool isSliver(const TraceBlock& block, double width) const {
    return width <= sliver &&
           llvm::all_of(block.steps, [&](StepId step) { return predicted_.at[step].seconds() <= 0; });
  }

  const Executable& plan_;
  const Schedule& schedule_;
  const TraceStep& predicted_;
  const TraceStep& measured_;
  TransferLabels labels_;
  TraceLayout layout_;
};

} // namespace

const TraceBand& TraceLayout::bandOf(QueueId queue) const {
  const auto band = std::find_if(bands.begin(), bands.end(),
                                 [&](const TraceBand& candidate) { return candidate.queue == queue; });
  DFC_ASSERT(band != bands.end(), "a queue without a band");
  return *band;
}

TraceLayout layOutTrace(const Executable& plan, const TraceStep& predicted, const TraceStep& measured) {
  double width = narrowestTrace;
  TraceLayout layout = TraceLayOut(plan, predicted, measured, width).run();
  while (layout.unlabelled > 0 && width < widestTrace) {
    width = std::min(widestTrace, width * 1.5);
    layout = TraceLayOut(plan, predicted, measured, width).run();
  }
  return layout;
}

} // namespace dfc
