#include "ir/text/schedule_dot.h"

#include "ir/scope_view.h"
#include "ir/text/dot_writer.h"
#include "ir/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace dfc {
namespace {

// Inches, but for the font sizes, which are points.
constexpr double laneHeight = 0.9, boxHeight = 0.62, narrowest = 14, widest = 44;
constexpr double letterWidth =
    0.0079; ///< of a letter in one point of font, Helvetica's average with some room
constexpr std::array<int, 4> fontSizes = {12, 10, 9, 8};

/// Steps drawn as one.
struct Block {
  QueueId queue;
  double start = 0, end = 0;
  std::string label;
  bool transfer = false;
  uint32_t number = 0; ///< in the key below the picture; 0 where the label has room in the box
};

struct Picture {
  const Schedule& schedule;
  const PlacedGraph& placed;
  const Machine& machine;
  std::vector<QueueId> lanes; ///< those that do something, from above
  std::vector<Block> blocks;
  double inchesPerSecond = 1;

  double x(double seconds) const { return seconds * inchesPerSecond; }
  double width() const { return x(schedule.makespan); }
  double y(QueueId queue) const {
    const auto lane = std::find(lanes.begin(), lanes.end(), queue) - lanes.begin();
    return -laneHeight * static_cast<double>(lane);
  }
  double bottom() const { return -laneHeight * static_cast<double>(lanes.size()) + laneHeight / 2; }
};

std::string labelOf(const StepRow& step, const PlacedGraph& placed, bool byScope) {
  if (const auto transfer = placed.transfers.find(step.op); transfer != placed.transfers.end()) {
    return transferLabel(placed, step.op) + "\n" + humanBytes(transfer->second.bytes);
  }
  const std::string_view scope = placed.graph.scopeOf(step.op);
  return std::string(byScope && !scope.empty() ? scope : placed.graph.nameOf(step.op));
}

void addBlocks(Picture& picture, QueueId queue, bool byScope) {
  const PlacedGraph& placed = picture.placed;
  std::string openScope;
  for (const StepId id : picture.schedule.queues[queue].steps) {
    const StepRow& step = picture.schedule.steps[id];
    const bool transfer = placed.transfers.count(step.op) != 0;
    const std::string scope(byScope && !transfer ? placed.graph.scopeOf(step.op) : "");
    if (scope.empty() || scope != openScope || picture.blocks.back().end != step.start) {
      picture.blocks.push_back({queue, step.start, step.end, labelOf(step, placed, byScope), transfer});
    }
    picture.blocks.back().end = step.end;
    openScope = scope;
  }
}

/// The label broken into lines for a box of this width; none where it has no room in this size of letters.
std::optional<std::string> fitting(const std::string& label, double inches, int fontSize) {
  const auto letters = static_cast<size_t>(std::max(0.0, (inches - 0.06) / (letterWidth * fontSize)));
  std::string lines = wrapped(label, letters);
  size_t longest = 0, count = 1, length = 0;
  for (const char letter : lines) {
    count += letter == '\n' ? 1 : 0;
    length = letter == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  const double height = static_cast<double>(count) * fontSize * 1.2 / 72;
  return longest <= letters && height <= boxHeight ? std::optional(std::move(lines)) : std::nullopt;
}

/// Wide enough for nine of ten labels in the smallest letters, within what a viewer shows at once.
double widthFor(const Picture& picture) {
  std::vector<double> wanted; // inches of the whole picture at which a block's longest word fits
  for (const Block& block : picture.blocks) {
    size_t longest = 0, length = 0;
    for (const char letter : wrapped(block.label, 1)) {
      length = letter == '\n' ? 0 : length + 1;
      longest = std::max(longest, length);
    }
    if (block.end > block.start) {
      const double inches = static_cast<double>(longest + 1) * letterWidth * fontSizes.back() + 0.06;
      wanted.push_back(inches * picture.schedule.makespan / (block.end - block.start));
    }
  }
  if (wanted.empty()) {
    return narrowest;
  }
  const auto most = wanted.begin() + static_cast<std::ptrdiff_t>((wanted.size() - 1) * 9 / 10);
  std::nth_element(wanted.begin(), most, wanted.end());
  return std::clamp(*most, narrowest, widest);
}

Picture layOut(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine, bool byScope) {
  Picture picture{schedule, placed, machine, {}, {}, 1};
  for (const QueueId queue : schedule.queues.ids()) {
    if (!schedule.queues[queue].steps.empty()) {
      picture.lanes.push_back(queue);
      addBlocks(picture, queue, byScope);
    }
  }
  picture.inchesPerSecond = schedule.makespan > 0 ? widthFor(picture) / schedule.makespan : 1;
  return picture;
}

std::string rectangle(const std::string& id, double x, double y, double width, double height,
                      const std::string& look) {
  return fmt::format("  {} [pos=\"{:.4f},{:.4f}!\", width={:.4f}, height={:.4f}, {}]\n", id, x + width / 2, y,
                     std::max(width, 0.02), height, look);
}

std::string laneBand(QueueId queue, const Picture& picture) {
  const dot::Colour colours = dot::deviceColour(picture.schedule.queues[queue].device.index());
  const std::string band =
      rectangle(fmt::format("lane{}", queue.index()), 0, picture.y(queue), picture.width(), laneHeight - 0.06,
                fmt::format("style=filled, fillcolor=\"{0}\", color=none, label=\"\"", paler(colours.fill)));
  constexpr double labelWidth = 1.7;
  return band +
         rectangle(fmt::format("name{}", queue.index()), -labelWidth - 0.1, picture.y(queue), labelWidth, 0.4,
                   fmt::format("style=\"\", color=none, fontsize=14, fontcolor=\"{}\", label={}",
                               colours.border, dotQuoted(picture.schedule.nameOf(queue, picture.machine))));
}

std::string boxLook(const Block& block, const Picture& picture) {
  const dot::Colour own = dot::deviceColour(picture.schedule.queues[block.queue].device.index());
  if (block.transfer) {
    return fmt::format("fillcolor=\"{}\", color=\"{}\", fontcolor=black", transferColour.fill,
                       transferColour.border);
  }
  return fmt::format("fillcolor=\"{}\", color=\"{}\", fontcolor=white", own.border,
                     block.end > block.start ? "white" : own.border);
}

/// Draws a block. One whose label has no room gets the next number of the key.
std::string blockBox(size_t index, Picture& picture, uint32_t& numbers) {
  Block& block = picture.blocks[index];
  const double width = picture.x(block.end - block.start);
  std::optional<std::string> label;
  int fontSize = fontSizes.back();
  for (size_t i = 0; i < fontSizes.size() && !label; ++i) {
    fontSize = fontSizes[i];
    label = fitting(block.label, width, fontSize);
  }
  if (!label && block.end > block.start) {
    block.number = ++numbers;
    label = fitting(fmt::format("{}", block.number), width, fontSize);
  }
  const std::string times = fmt::format("{}\n{} to {}, {}", block.label, humanSeconds(block.start),
                                        humanSeconds(block.end), humanSeconds(block.end - block.start));
  return rectangle(fmt::format("b{}", index), picture.x(block.start), picture.y(block.queue), width,
                   boxHeight,
                   fmt::format("style=filled, {}, fontsize={}, label={}, tooltip={}", boxLook(block, picture),
                               fontSize, dotQuoted(label.value_or("")), dotQuoted(times)));
}

/// An invisible point where an arrow begins or ends: on the side of the box that faces the other lane.
std::string anchor(const std::string& id, double seconds, QueueId queue, QueueId other,
                   const Picture& picture) {
  const double side = picture.y(other) < picture.y(queue) ? -boxHeight / 2 : boxHeight / 2;
  return fmt::format("  {} [shape=point, width=0.01, height=0.01, style=invis, pos=\"{:.4f},{:.4f}!\"]\n", id,
                     picture.x(seconds), picture.y(queue) + side);
}

std::string waitArrows(const Picture& picture) {
  const Schedule& schedule = picture.schedule;
  std::string text;
  size_t number = 0;
  for (const StepId id : schedule.steps.ids()) {
    const StepRow& step = schedule.steps[id];
    for (const StepId wait : step.waits) {
      const StepRow& before = schedule.steps[wait];
      text += anchor(fmt::format("from{}", number), before.end, before.queue, step.queue, picture) +
              anchor(fmt::format("to{}", number), step.start, step.queue, before.queue, picture) +
              fmt::format("  from{0} -> to{0}\n", number);
      ++number;
    }
  }
  return text;
}

/// The distance between ticks: 1, 2 or 5 times a power of ten, at most twelve of them.
double tickSeconds(double makespan) {
  const double least = makespan / 12;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::string timeAxis(const Picture& picture) {
  if (picture.schedule.makespan <= 0) {
    return "";
  }
  std::string text;
  const double step = tickSeconds(picture.schedule.makespan);
  const double y = picture.bottom() - 0.2;
  for (int tick = 0; tick * step <= picture.schedule.makespan * 1.0001; ++tick) {
    const double x = picture.x(tick * step);
    text +=
        fmt::format("  t{0} [shape=plaintext, style=\"\", pos=\"{1:.4f},{2:.4f}!\", fontsize=12, label={3}]\n"
                    "  top{0} [shape=point, width=0.01, style=invis, pos=\"{1:.4f},{4:.4f}!\"]\n"
                    "  low{0} [shape=point, width=0.01, style=invis, pos=\"{1:.4f},{5:.4f}!\"]\n"
                    "  top{0} -> low{0} [arrowhead=none, style=dotted, color=\"#888888\"]\n",
                    tick, x, y, dotQuoted(humanSeconds(tick * step)), laneHeight / 2, picture.bottom());
  }
  return text;
}

/// What the numbers in narrow boxes stand for: columns below the axis, filled one after the other.
std::string key(const Picture& picture) {
  constexpr double columnWidth = 3.4, rowHeight = 0.22;
  std::vector<const Block*> numbered;
  for (const Block& block : picture.blocks) {
    if (block.number != 0) {
      numbered.push_back(&block);
    }
  }
  const auto columns = static_cast<size_t>(std::max(1.0, picture.width() / columnWidth));
  const size_t rows = (numbered.size() + columns - 1) / columns;
  std::string text;
  for (size_t i = 0; i < numbered.size(); ++i) {
    std::string label = fmt::format("{}  {}", numbered[i]->number, numbered[i]->label);
    std::replace(label.begin(), label.end(), '\n', ' ');
    std::string leftAligned = dotQuoted(label);
    leftAligned.insert(leftAligned.size() - 1, "\\l");
    const size_t column = i / rows, row = i % rows;
    const double x = columnWidth * static_cast<double>(column);
    const double y = picture.bottom() - 0.6 - rowHeight * static_cast<double>(row);
    text += rectangle(
        fmt::format("key{}", numbered[i]->number), x, y, columnWidth, rowHeight,
        fmt::format("style=\"\", color=none, fontsize=11, fontcolor=\"{}\", label={}",
                    dot::deviceColour(picture.schedule.queues[numbered[i]->queue].device.index()).border,
                    leftAligned));
  }
  return text;
}

} // namespace

std::string scheduleDot(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                        bool byScope) {
  Picture picture = layOut(schedule, placed, machine, byScope);
  std::string text = fmt::format(
      "digraph dfc {{\n  graph [layout=neato, splines=line, outputorder=nodesfirst, labelloc=t,\n"
      "         fontname=\"Helvetica\", label={}]\n"
      "  node [shape=box, fixedsize=true, fontname=\"Helvetica\"]\n"
      "  edge [color=\"#333333aa\", arrowsize=0.6, penwidth=0.8]\n",
      dotTitle(fmt::format("{} on {}: one step, predicted {}", placed.graph.name(), machine.name,
                           humanSeconds(schedule.makespan)),
               "a row is a queue of a device; a dark box computes, a yellow box copies, an arrow is a wait"));
  for (const QueueId queue : picture.lanes) {
    text += laneBand(queue, picture);
  }
  text += timeAxis(picture);
  uint32_t numbers = 0;
  for (size_t index = 0; index < picture.blocks.size(); ++index) {
    text += blockBox(index, picture, numbers);
  }
  return text + waitArrows(picture) + key(picture) + "}\n";
}

} // namespace dfc
