#include "ir/text/schedule_dot.h"

#include "ir/text/dot_writer.h"
#include "ir/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace dfc {
namespace {

// Inches.
constexpr double laneHeight = 0.9, boxHeight = 0.62, perLabel = 1.25, narrowest = 14, widest = 150,
                 letterWidth = 0.085, marginWidth = 0.1;
constexpr int fontSize = 11;

/// Steps drawn as one.
struct Block {
  QueueId queue;
  double start = 0, end = 0;
  std::string label;
  bool transfer = false;
};

struct Picture {
  const Schedule& schedule;
  const PlacedGraph& placed;
  const Machine& machine;
  std::vector<QueueId> lanes; ///< those that do something, from above
  std::vector<Block> blocks;
  SideTable<StepId, uint32_t> blockOf;
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
  const Graph& graph = placed.graph;
  if (const auto transfer = placed.transfers.find(step.op); transfer != placed.transfers.end()) {
    return fmt::format("copy {} {}", graph.nameOf(graph[step.op].operands.front()),
                       humanBytes(transfer->second.bytes));
  }
  const std::string_view scope = graph.scopeOf(step.op);
  return std::string(byScope && !scope.empty() ? scope : graph.nameOf(step.op));
}

void addBlocks(Picture& picture, QueueId queue, bool byScope) {
  const PlacedGraph& placed = picture.placed;
  std::string openScope;
  for (const StepId id : picture.schedule.queues[queue].steps) {
    const StepRow& step = picture.schedule.steps[id];
    const bool transfer = placed.transfers.count(step.op) != 0;
    const std::string scope(byScope && !transfer ? placed.graph.scopeOf(step.op) : "");
    if (scope.empty() || scope != openScope) {
      picture.blocks.push_back({queue, step.start, step.end, labelOf(step, placed, byScope), transfer});
    }
    picture.blocks.back().end = step.end;
    picture.blockOf[id] = static_cast<uint32_t>(picture.blocks.size() - 1);
    openScope = scope;
  }
}

/// Wide enough for the labels of the lane that has most to show, within what a viewer still opens.
double widthFor(const Picture& picture) {
  SideTable<QueueId, double> labels(picture.schedule.queues.size());
  double longest = 0;
  for (const Block& block : picture.blocks) {
    longest = std::max(longest, labels[block.queue] += block.end > block.start ? perLabel : 0);
  }
  return std::clamp(longest * 1.5, narrowest, widest);
}

Picture layOut(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine, bool byScope) {
  Picture picture{schedule, placed, machine, {}, {}, SideTable<StepId, uint32_t>(schedule.steps.size()), 1};
  for (const QueueId queue : schedule.queues.ids()) {
    if (!schedule.queues[queue].steps.empty()) {
      picture.lanes.push_back(queue);
      addBlocks(picture, queue, byScope);
    }
  }
  picture.inchesPerSecond = schedule.makespan > 0 ? widthFor(picture) / schedule.makespan : 1;
  return picture;
}

/// The label as far as the box has room for it: broken into at most three lines, else left to the tooltip.
std::string fitting(const std::string& label, double inches) {
  const auto letters = static_cast<size_t>(std::max(0.0, (inches - marginWidth) / letterWidth));
  const std::string lines = wrapped(label, letters);
  size_t longest = 0, count = 1, length = 0;
  for (const char letter : lines) {
    count += letter == '\n' ? 1 : 0;
    length = letter == '\n' ? 0 : length + 1;
    longest = std::max(longest, length);
  }
  return longest <= letters && count <= 3 ? lines : "";
}

std::string rectangle(const std::string& id, double x, double y, double width, double height,
                      const std::string& look) {
  return fmt::format("  {} [pos=\"{:.4f},{:.4f}!\", width={:.4f}, height={:.4f}, {}]\n", id, x + width / 2, y,
                     std::max(width, 0.01), height, look);
}

std::string laneBand(QueueId queue, const Picture& picture) {
  const DotColours colours = coloursOf(picture.schedule.queues[queue].device);
  const std::string band =
      rectangle(fmt::format("lane{}", queue.index()), 0, picture.y(queue), picture.width(), laneHeight - 0.06,
                fmt::format("style=filled, fillcolor=\"{0}\", color=\"{0}\", label=\"\"", colours.light));
  constexpr double labelWidth = 1.7;
  return band +
         rectangle(fmt::format("name{}", queue.index()), -labelWidth - 0.1, picture.y(queue), labelWidth, 0.4,
                   fmt::format("style=\"\", color=none, fontsize=14, fontcolor=\"{}\", label={}",
                               colours.dark, dotQuoted(picture.schedule.nameOf(queue, picture.machine))));
}

std::string blockBox(size_t index, const Picture& picture) {
  const Block& block = picture.blocks[index];
  const DotColours colours =
      block.transfer ? transferColours : coloursOf(picture.schedule.queues[block.queue].device);
  const double width = picture.x(block.end - block.start);
  const std::string times = fmt::format("{}\n{} to {}, {}", block.label, humanSeconds(block.start),
                                        humanSeconds(block.end), humanSeconds(block.end - block.start));
  return rectangle(
      fmt::format("b{}", index), picture.x(block.start), picture.y(block.queue), width, boxHeight,
      fmt::format("style=filled, fillcolor=\"{}\", color=\"{}\", fontcolor=\"{}\", label={}, tooltip={}",
                  block.transfer ? colours.light : colours.dark, block.transfer ? colours.dark : "white",
                  block.transfer ? "black" : "white", dotQuoted(fitting(block.label, width)),
                  dotQuoted(times)));
}

std::string waitEdges(const Picture& picture) {
  std::set<std::pair<uint32_t, uint32_t>> drawn;
  std::string text;
  for (const StepId id : picture.schedule.steps.ids()) {
    for (const StepId wait : picture.schedule.steps[id].waits) {
      const std::pair<uint32_t, uint32_t> edge{picture.blockOf[wait], picture.blockOf[id]};
      if (edge.first != edge.second && drawn.insert(edge).second) {
        text += fmt::format("  b{}:e -> b{}:w\n", edge.first, edge.second);
      }
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
  const double y = picture.bottom() - 0.25;
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

} // namespace

std::string scheduleDot(const Schedule& schedule, const PlacedGraph& placed, const Machine& machine,
                        bool byScope) {
  const Picture picture = layOut(schedule, placed, machine, byScope);
  std::string text =
      fmt::format("digraph dfc {{\n  graph [layout=neato, splines=line, outputorder=nodesfirst, labelloc=t, "
                  "fontsize=20,\n"
                  "         fontname=\"Helvetica\", label={}]\n"
                  "  node [shape=box, fixedsize=true, fontname=\"Helvetica\", fontsize={}]\n"
                  "  edge [color=\"#33333399\", arrowsize=0.6, penwidth=0.8]\n",
                  dotQuoted(fmt::format("{} on {}: one step, predicted {}", placed.graph.name(), machine.name,
                                        humanSeconds(schedule.makespan))),
                  fontSize);
  for (const QueueId queue : picture.lanes) {
    text += laneBand(queue, picture);
  }
  text += timeAxis(picture);
  for (size_t index = 0; index < picture.blocks.size(); ++index) {
    text += blockBox(index, picture);
  }
  return text + waitEdges(picture) + "}\n";
}

} // namespace dfc
