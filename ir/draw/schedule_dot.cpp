// See schedule_dot.h.
#include "ir/draw/schedule_dot.h"

#include "ir/author/text/units.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/schedule_layout.h"
#include "ir/draw/timeline_parts.h"

#include <fmt/format.h>

namespace dfc {
namespace {

constexpr double opHeight = 0.2; // inches, of the ops in the lower part of a block
constexpr const char* bindingLook = "color=\"#24292f\", penwidth=1.1";
constexpr const char* slackLook = "color=\"#8c959f\", penwidth=0.8, style=dotted";

using timeline::atLeft;
using timeline::box;
using timeline::line;
using timeline::text;

class ScheduleDrawing {
 public:
  ScheduleDrawing(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine, bool byScope,
                  const std::string& explanation)
      : schedule_(schedule), placed_(placed), machine_(machine), explanation_(explanation),
        opsApart_(!byScope), palette_(machine), layout_(layOutSchedule(schedule, placed, opsApart_)) {}

  std::string draw() const {
    std::string out = head();
    for (size_t i = 0; i < layout_.rows.size(); ++i) {
      out += band(layout_.rows[i]) + laneName(i);
    }
    out += timeAxis();
    for (size_t i = 0; i < layout_.blocks.size(); ++i) {
      out += block(i);
    }
    return out + waits() + legend() + "}\n";
  }

 private:
  std::string head() const {
    std::string explanation =
        "a row is a queue of a device and does one thing after the other; rows of one device "
        "share a colour; a box is as wide as it lasts";
    if (layout_.unlabelled > 0) {
      explanation += fmt::format("\nwithout room for a label: {}", counted(layout_.unlabelled, "box"));
    }
    if (!explanation_.empty()) {
      explanation += "\n" + explanation_;
    }
    return timeline::head(
        dot::title(fmt::format("{} on {}: one step, predicted to take {}", placed_.graph.name(),
                               machine_.name, humanSeconds(schedule_.makespan)),
                   explanation));
  }

  dot::Colour colourOf(QueueId queue) const {
    return palette_.of(machine_.devices[schedule_.queues[queue].device].name);
  }

  std::string band(const ScheduleRow& row) const {
    return box(fmt::format("row{}", row.queue.index()), 0, (row.top + row.bottom) / 2, layout_.width,
               row.top - row.bottom,
               fmt::format("style=filled, fillcolor=\"{}\", color=none, label=\"\"",
                           paler(colourOf(row.queue).fill)));
  }

  std::string laneName(size_t index) const {
    const ScheduleRow& row = layout_.rows[index];
    return text(fmt::format("name{}", row.queue.index()), -1.72, row.y, 1.66, 14, colourOf(row.queue).border,
                dotQuoted(timeline::displayQueue(schedule_, row.queue, machine_)));
  }

  std::string block(size_t index) const {
    const ScheduleBlock& row = layout_.blocks[index];
    const dot::Colour own = colourOf(row.queue);
    const bool inside = row.fontSize > 0 && !row.row;
    const bool divided = opsApart_ && row.steps.size() > 1;
    const std::string look =
        row.transfer ? fmt::format("fillcolor=\"{}\", color=\"{}\", fontcolor=\"#24292f\"",
                                   transferColour.fill, transferColour.border)
                     : fmt::format("fillcolor=\"{}\", color=\"#ffffff\", fontcolor=\"#ffffff\"", own.border);
    const double y = layout_.rowOf(row.queue).y, left = layout_.x(row.start),
                 width = layout_.x(row.end) - left;
    const std::string times = fmt::format("{}\n{} to {}, {}", row.label, humanSeconds(row.start),
                                          humanSeconds(row.end), humanSeconds(row.end - row.start));
    const std::string label = dotQuoted(inside ? row.shown : "");
    return box(fmt::format("b{}", index), left, y, width, ScheduleLayout::blockHeight,
               fmt::format("style=filled, {}, fontsize={}, label={}, tooltip={}", look,
                           inside ? row.fontSize : 8, divided ? "\"\"" : label, dotQuoted(times))) +
           (divided ? ops(index) + text(fmt::format("l{}", index), left, y + opHeight / 2, width,
                                        inside ? row.fontSize : 8, "#ffffff", label)
                    : "") +
           (row.row ? callout(index) : "");
  }

  // The ops of a block in its lower part.
  std::string ops(size_t index) const {
    const ScheduleBlock& row = layout_.blocks[index];
    const double y = layout_.rowOf(row.queue).y - ScheduleLayout::blockHeight / 2 + opHeight / 2 + 0.01;
    std::string out;
    for (size_t i = 0; i < row.steps.size(); ++i) {
      const StepRow& step = schedule_.steps[row.steps[i]];
      const std::string name = displayName(placed_.graph, step.op);
      const double left = layout_.x(step.start), width = layout_.x(step.end) - left;
      out += box(fmt::format("b{}_{}", index, i), left, y, width, opHeight,
                 fmt::format("style=filled, fillcolor=\"{}\", color=\"{}\", fontsize=9, label={}, tooltip={}",
                             colourOf(row.queue).fill, colourOf(row.queue).border,
                             dotQuoted(timeline::fitting(name, width, opHeight, 9).value_or("")),
                             dotQuoted(fmt::format("{}\n{}", name, humanSeconds(step.end - step.start)))));
    }
    return out;
  }

  std::string callout(size_t index) const {
    const ScheduleBlock& row = layout_.blocks[index];
    const double roof = layout_.rowOf(row.queue).y + ScheduleLayout::blockHeight / 2;
    const double y = roof + (static_cast<double>(*row.row) + 0.5) * timeline::Callouts::height;
    const double x = layout_.x((row.start + row.end) / 2);
    return line(fmt::format("c{}", index), {x, y + 0.07}, {x, roof},
                fmt::format("arrowhead=none, penwidth=0.7, color=\"{}\"", colourOf(row.queue).border)) +
           text(fmt::format("c{}", index), x + 0.04, y, timeline::textWidth(row.shown, row.fontSize),
                row.fontSize, "#24292f", atLeft(row.shown));
  }

  // From the end of one step to the start of another, between the sides of their rows' blocks that face each
  // other. Steps that take no time have no block, and a wait for or by one has no arrow.
  std::string waits() const {
    std::string out;
    size_t number = 0;
    for (const StepRow& step : schedule_.steps) {
      for (const StepId wait : step.waits) {
        const StepRow& before = schedule_.steps[wait];
        if (before.end <= before.start || step.end <= step.start) {
          continue;
        }
        const double from = layout_.rowOf(before.queue).y, to = layout_.rowOf(step.queue).y;
        const double side = from > to ? -ScheduleLayout::blockHeight / 2 : ScheduleLayout::blockHeight / 2;
        const bool binding = step.start - before.end <= 1e-6 * schedule_.makespan;
        out += line(fmt::format("w{}", number++), {layout_.x(before.end), from + side},
                    {layout_.x(step.start), to - side}, binding ? bindingLook : slackLook);
      }
    }
    return out;
  }

  std::string timeAxis() const {
    std::string out;
    const double step = schedule_.makespan > 0 ? timeline::tickSeconds(schedule_.makespan) : 1;
    for (int tick = 0; tick * step <= schedule_.makespan * 1.0001; ++tick) {
      const double x = layout_.x(tick * step);
      out += box(fmt::format("g{}", tick), x, layout_.bottom() / 2, 0.01, -layout_.bottom(),
                 "style=filled, fillcolor=\"#d0d7de\", color=none, label=\"\"") +
             text(fmt::format("t{}", tick), x - 0.5, layout_.bottom() - 0.17, 1, 12, "#24292f",
                  dotQuoted(humanSeconds(tick * step)));
    }
    return out +
           text("axis", -1.72, layout_.bottom() - 0.17, 1.66, 12, "#24292f", dotQuoted("time in the step"));
  }

  std::string legend() const {
    const double y = layout_.bottom() - 0.55;
    const dot::Colour grey = dot::noDevice;
    const std::string work =
        fmt::format("style=filled, fillcolor=\"{}\", color=\"#ffffff\", label=\"\"", grey.border);
    const std::string copy = fmt::format("style=filled, fillcolor=\"{}\", color=\"{}\", label=\"\"",
                                         transferColour.fill, transferColour.border);
    std::string out = text("k0", -1.72, y, 1.66, 12, "#57606a", dotQuoted("how to read this"));
    out += box("k1", 0, y, 0.4, 0.24, work) +
           text("k1text", 0.5, y, 3.7, 12, "#24292f",
                atLeft(opsApart_ ? "computation of one scope, its ops below" : "computation of one scope"));
    out += box("k2", 4.0, y, 0.4, 0.24, copy) +
           text("k2text", 4.5, y, 2.2, 12, "#24292f", atLeft("copy between devices"));
    out += line("k3", {6.5, y}, {7.0, y}, bindingLook) +
           text("k3text", 7.1, y, 3.2, 12, "#24292f", atLeft("starts as soon as that has ended"));
    out +=
        line("k4", {9.9, y}, {10.4, y}, slackLook) +
        text("k4text", 10.5, y, 3.9, 12, "#24292f", atLeft("needs that too, but something else comes later"));
    return out;
  }

  const Schedule& schedule_;
  const PlacedGraph& placed_;
  const Machine& machine_;
  std::string explanation_;
  bool opsApart_;
  dot::DevicePalette palette_;
  ScheduleLayout layout_;
};

} // namespace

std::string scheduleDot(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                        bool byScope, const std::string& explanation) {
  return ScheduleDrawing(schedule, placed, machine, byScope, explanation).draw();
}

} // namespace dfc
