// See trace_dot.h.
#include "ir/draw/trace_dot.h"

#include "ir/author/text/units.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/timeline_parts.h"
#include "ir/draw/trace_layout.h"
#include "ir/plan/executable_parts.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>

namespace dfc {
namespace {

using timeline::atLeft;
using timeline::box;
using timeline::line;
using timeline::text;

constexpr const char* critical = "#e6007a"; // unlike every device's
constexpr const char* ink = "#24292f";
constexpr const char* quiet = "#57606a";
constexpr double namesLeft = -2.62, namesWidth = 1.7, rowsLeft = -0.86, rowsWidth = 0.8;
constexpr double shortestArrow = 0.05;
constexpr double coarsest = 0.08; // inches

class TraceDrawing {
 public:
  explicit TraceDrawing(const TraceComparison& comparison, const std::string& reason)
      : comparison_(comparison), reason_(reason), plan_(comparison.plan), schedule_(plan_.schedule()),
        palette_(plan_.machine()), layout_(layOutTrace(plan_, comparison.predicted, comparison.measured)),
        onPath_(schedule_.steps.size()) {
    for (const PathSpan& span : comparison.path) {
      onPath_[span.step] = true;
    }
  }

  std::string draw() const {
    std::string out = timeline::head(dot::title(title(), explanation()));
    for (const TraceBand& band : layout_.bands) {
      out += ground(band);
    }
    out += axes();
    out += reason_.empty() ? blocks() : coarseBlocks();
    return out + path() + legend() + "}\n";
  }

 private:
  std::string title() const {
    return fmt::format("{} on {}: predicted {}, measured {}", plan_.graph().name(), plan_.machine().name,
                       humanSeconds(comparison_.predicted.makespan),
                       humanSeconds(comparison_.measured.makespan));
  }

  std::string explanation() const {
    const double predicted = comparison_.predicted.makespan, measured = comparison_.measured.makespan;
    std::string words = fmt::format(
        "{}; measured / predicted = {}; lower bound {} (no order of these ops takes less)\n",
        comparison_.which, predicted > 0 ? fmt::format("{:.3g}", measured / predicted) : "undefined",
        humanSeconds(comparison_.lowerBound()));
    if (comparison_.lead > 0) {
      words += fmt::format("launching the step takes another {} before its first op, which no trace shows\n",
                           humanSeconds(comparison_.lead));
    }
    if (const std::string standIns = standInText(comparison_.backends, plan_.machine()); !standIns.empty()) {
      words += standIns + "\n";
    }
    words += "a queue of a device does one thing after the other; what was predicted stands above what was "
             "measured; pink is the critical path: what the end of the measured step waited for";
    if (!layout_.oneScale()) {
      words += fmt::format("\nthe two rows have different scales: an inch above stands for {}, below for {}",
                           humanSeconds(1 / layout_.predictedScale), humanSeconds(1 / layout_.measuredScale));
    }
    if (!reason_.empty()) {
      words += "\ndrawn by scope: " + reason_;
    } else if (layout_.unlabelled > 0) {
      words += fmt::format("\nwithout room for a label: {}", counted(layout_.unlabelled, "box"));
    }
    return words;
  }

  dot::Colour colourOf(QueueId queue) const {
    return palette_.of(plan_.machine().devices[schedule_.queues[queue].device].name);
  }

  std::string ground(const TraceBand& band) const {
    const std::string id = std::to_string(band.queue.index());
    const dot::Colour own = colourOf(band.queue);
    const double middle = (band.top + band.bottom) / 2;
    return box("band" + id, 0, middle, layout_.width, band.top - band.bottom,
               fmt::format("style=filled, fillcolor=\"{}\", color=none, label=\"\"", paler(own.fill))) +
           text("name" + id, namesLeft, middle, namesWidth, 14, own.border,
                dotQuoted(timeline::displayQueue(schedule_, band.queue, plan_.machine()))) +
           text("above" + id, rowsLeft, band.predictedY, rowsWidth, 11, quiet, dotQuoted("predicted")) +
           text("below" + id, rowsLeft, band.measuredY, rowsWidth, 11, ink, dotQuoted("measured"));
  }

  // Predicted is pale and measured strong, in the device's colour; copies likewise in theirs.
  std::string fill(const TraceBlock& row) const {
    const dot::Colour own = row.transfer ? transferColour : colourOf(row.queue);
    return fmt::format("style=filled, fillcolor=\"{}\"", row.measured ? own.border : own.fill);
  }

  std::string edge(const TraceBlock& row, StepId step) const {
    const dot::Colour own = row.transfer ? transferColour : colourOf(row.queue);
    return onPath_[step] ? fmt::format("color=\"{}\", penwidth=2.4", critical)
                         : fmt::format("color=\"{}\", penwidth=0.6", row.measured ? "#ffffff" : own.border);
  }

  std::string blocks() const {
    std::string out;
    for (size_t i = 0; i < layout_.blocks.size(); ++i) {
      out += block(i);
    }
    return out;
  }

  /// A box a block, without those that nobody can tell from the box before.
  std::string coarseBlocks() const {
    std::string out;
    double drawnUntil = 0;
    for (size_t i = 0; i < layout_.blocks.size(); ++i) {
      const TraceBlock& row = layout_.blocks[i];
      const double left = layout_.x(row.begin, row.measured), right = layout_.x(row.end, row.measured);
      const bool sameRow =
          i > 0 && layout_.blocks[i - 1].queue == row.queue && layout_.blocks[i - 1].measured == row.measured;
      if (sameRow && right < drawnUntil + coarsest) {
        continue;
      }
      const auto marked =
          std::find_if(row.steps.begin(), row.steps.end(), [&](StepId step) { return onPath_[step]; });
      const StepId look = marked == row.steps.end() ? row.steps.front() : *marked;
      out += box(
          fmt::format("b{}", i), left, layout_.y(layout_.bandOf(row.queue), row.measured),
          std::max(right - left, coarsest / 2), TraceLayout::height(row.measured),
          fmt::format("{}, {}, label=\"\", tooltip={}", fill(row), edge(row, look), dotQuoted(row.label)));
      out += row.row ? "" : label(i);
      drawnUntil = right;
    }
    return out;
  }

  std::string block(size_t index) const {
    const TraceBlock& row = layout_.blocks[index];
    std::string out;
    for (const bool marked : {false, true}) { // what is marked lies above its neighbours
      for (size_t i = 0; i < row.steps.size(); ++i) {
        out +=
            onPath_[row.steps[i]] == marked ? opBox(fmt::format("b{}_{}", index, i), row, row.steps[i]) : "";
      }
    }
    return out + label(index);
  }

  std::string opBox(const std::string& id, const TraceBlock& row, StepId step) const {
    const Interval& time = row.measured ? comparison_.measured.at[step] : comparison_.predicted.at[step];
    const double left = layout_.x(time.begin, row.measured);
    const std::string tooltip = fmt::format(
        "{}: {} ({})\n{} to {}, {}", row.measured ? "measured" : "predicted",
        displayName(plan_.graph(), schedule_.steps[step].op), plan_.graph().nameOf(schedule_.steps[step].op),
        humanSeconds(time.begin), humanSeconds(time.end), humanSeconds(time.seconds()));
    return box(id, left, layout_.y(layout_.bandOf(row.queue), row.measured),
               layout_.x(time.end, row.measured) - left, TraceLayout::height(row.measured),
               fmt::format("{}, {}, label=\"\", tooltip={}", fill(row), edge(row, step), dotQuoted(tooltip)));
  }

  std::string label(size_t index) const {
    const TraceBlock& row = layout_.blocks[index];
    const double y = layout_.y(layout_.bandOf(row.queue), row.measured);
    const double left = layout_.x(row.begin, row.measured), right = layout_.x(row.end, row.measured);
    const std::string id = fmt::format("l{}", index);
    if (row.shown.empty()) {
      return "";
    }
    if (!row.row) {
      return text(id, left, y, right - left, row.fontSize, row.measured ? "#ffffff" : ink,
                  dotQuoted(row.shown));
    }
    const double roof = y + TraceLayout::measuredHeight / 2;
    const double above = roof + (static_cast<double>(*row.row) + 0.5) * timeline::Callouts::height;
    const double middle = (left + right) / 2;
    return line("c" + id, {middle, above + 0.07}, {middle, roof},
                fmt::format("arrowhead=none, penwidth=0.7, color=\"{}\"", colourOf(row.queue).border)) +
           text(id, middle + 0.04, above, timeline::textWidth(row.shown, row.fontSize), row.fontSize, ink,
                atLeft(row.shown));
  }

  /// What was measured: from the end of each span of the path to the begin of the next, where they do not
  /// touch.
  std::string path() const {
    std::string out;
    for (size_t i = 1; i < comparison_.path.size(); ++i) {
      out += link(i, comparison_.path[i - 1].step, comparison_.path[i].step);
    }
    return out;
  }

  std::string link(size_t number, StepId before, StepId after) const {
    const Interval &first = comparison_.measured.at[before], &second = comparison_.measured.at[after];
    const QueueId from = schedule_.steps[before].queue, to = schedule_.steps[after].queue;
    const double x0 = layout_.x(first.end, true), x1 = layout_.x(second.begin, true);
    if (first.seconds() <= 0 || second.seconds() <= 0 || (from == to && x1 - x0 < shortestArrow)) {
      return "";
    }
    const double y0 = layout_.bandOf(from).measuredY, y1 = layout_.bandOf(to).measuredY;
    const double side = from == to ? 0 : (y0 > y1 ? -0.5 : 0.5) * TraceLayout::measuredHeight;
    return line(fmt::format("m{}", number), {x0, y0 + side}, {x1, y1 - side},
                fmt::format("color=\"{}\", penwidth=1.8, tooltip={}", critical,
                            dotQuoted(humanSeconds(second.begin - first.end))));
  }

  std::string axes() const {
    const std::string time = "time in the step";
    return layout_.oneScale() ? axis("t", longest(), true, layout_.bottom() - 0.17, time)
                              : axis("p", comparison_.predicted.makespan, false, 0.17, time + ", predicted") +
                                    axis("m", comparison_.measured.makespan, true, layout_.bottom() - 0.17,
                                         time + ", measured");
  }
  double longest() const { return std::max(comparison_.predicted.makespan, comparison_.measured.makespan); }

  std::string axis(const std::string& id, double length, bool measured, double y,
                   const std::string& name) const {
    const double step = length > 0 ? timeline::tickSeconds(length) : 1;
    std::string out = text(id, namesLeft, y, namesWidth + rowsWidth, 12, ink, dotQuoted(name));
    for (int tick = 0; tick * step <= length * 1.0001; ++tick) {
      const double x = layout_.x(tick * step, measured);
      out +=
          text(fmt::format("{}t{}", id, tick), x - 0.5, y, 1, 12, ink, dotQuoted(humanSeconds(tick * step)));
      out += measured ? box(fmt::format("{}g{}", id, tick), x, layout_.bottom() / 2, 0.01, -layout_.bottom(),
                            "style=filled, fillcolor=\"#d0d7de\", color=none, label=\"\"")
                      : "";
    }
    return out;
  }

  std::string legend() const {
    const double y = layout_.bottom() - 0.58;
    const auto sample = [](std::string_view colour, const std::string& edge) {
      return fmt::format("style=filled, fillcolor=\"{}\", {}, label=\"\"", colour, edge);
    };
    const std::string thin = "color=\"#8c959f\", penwidth=0.6";
    const std::string thick = fmt::format("color=\"{}\", penwidth=2.4", critical);
    std::string out = text("k", namesLeft, y, namesWidth, 12, quiet, dotQuoted("how to read this"));
    const auto entry = [&](int number, double left, const std::string& look, const char* meaning) {
      const double width = timeline::textWidth(meaning, 12);
      out += box(fmt::format("k{}", number), left, y, 0.36, 0.22, look) +
             text(fmt::format("k{}text", number), left + 0.46, y, width, 12, ink, atLeft(meaning));
    };
    entry(1, 0, sample(dot::noDevice.fill, "color=\"#57606a\", penwidth=1"), "predicted");
    entry(2, 1.5, sample(dot::noDevice.border, thin), "measured");
    entry(3, 3.0, sample(transferColour.fill, fmt::format("color=\"{}\"", transferColour.border)),
          "copy, predicted");
    entry(4, 5.0, sample(transferColour.border, thin), "copy, measured");
    entry(5, 7.0, sample("#ffffff", thick), "on the critical path of the measured step");
    out += line("k6", {11.2, y}, {11.7, y}, fmt::format("color=\"{}\", penwidth=1.8", critical)) +
           text("k6text", 11.8, y, 2.6, 12, ink, atLeft("begins when that has ended"));
    return out;
  }

  const TraceComparison& comparison_;
  std::string reason_;
  const Executable& plan_;
  const Schedule& schedule_;
  dot::DevicePalette palette_;
  TraceLayout layout_;
  SideTable<StepId, bool> onPath_;
};

} // namespace

std::string traceDot(const TraceComparison& comparison, const std::string& reason) {
  return TraceDrawing(comparison, reason).draw();
}

} // namespace dfc
