// See timeline_parts.h.
#include "ir/draw/timeline_parts.h"

#include "ir/author/text/units.h"
#include "ir/draw/display_name.h"
#include "ir/draw/dot_writer.h"
#include "ir/draw/scope_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dfc::timeline {
namespace {

constexpr double letterWidth = 0.0079; // of one point of font: Helvetica's average with some room
constexpr std::array<int, 4> fontSizes = {13, 12, 11, 10};
constexpr double margin = 0.08;

std::string_view displayName(QueueKind kind) {
  switch (kind) {
  case QueueKind::Compute: return "computes";
  case QueueKind::CopyIn: return "copies in";
  case QueueKind::CopyOut: return "copies out";
  case QueueKind::Peer: return "peer copies";
  }
  DFC_UNREACHABLE("queue kind");
}

} // namespace

std::string head(const std::string& label) {
  return fmt::format("digraph dfc {{\n  layout=neato; splines=line; outputorder=nodesfirst; labelloc=t; "
                     "fontname=\"Helvetica\"; bgcolor=\"#ffffff\";\n  label={};\n"
                     "  node [shape=box, fixedsize=true, margin=0, fontname=\"Helvetica\"];\n"
                     "  edge [arrowsize=0.6];\n",
                     label);
}

std::string box(const std::string& id, double left, double y, double width, double height,
                const std::string& look) {
  return fmt::format("  {} [pos=\"{:.3f},{:.3f}!\", width={:.3f}, height={:.3f}, {}];\n", id,
                     left + width / 2, y, std::max(width, 0.01), height, look);
}

std::string text(const std::string& id, double left, double y, double width, int fontSize,
                 std::string_view colour, const std::string& label) {
  return box(id, left, y, width, 0.18,
             fmt::format("style=\"\", color=none, fontsize={}, fontcolor=\"{}\", label={}", fontSize, colour,
                         label));
}

std::string line(const std::string& id, std::pair<double, double> from, std::pair<double, double> to,
                 const std::string& look) {
  constexpr const char* point =
      "  {} [shape=point, width=0.01, height=0.01, style=invis, pos=\"{:.3f},{:.3f}!\"];\n";
  return fmt::format(fmt::runtime(point), id + "a", from.first, from.second) +
         fmt::format(fmt::runtime(point), id + "b", to.first, to.second) +
         fmt::format("  {0}a -> {0}b [{1}];\n", id, look);
}

std::string atLeft(std::string_view label) {
  std::string quoted = dotQuoted(label);
  return quoted.insert(quoted.size() - 1, "\\l");
}

std::string displayQueue(const Schedule& schedule, QueueId queue, const Machine& machine) {
  const QueueRow& row = schedule.queues[queue];
  const auto alike =
      std::count_if(schedule.queues.begin(), schedule.queues.end(), [&](const QueueRow& other) {
        return other.device == row.device && other.kind == row.kind;
      });
  return fmt::format("{} {}{}", machine.devices[row.device].name, displayName(row.kind),
                     alike > 1 ? fmt::format(" {}", row.index) : "");
}

std::string displayStep(const PlacedGraph& placed, const TransferLabels& labels, OpId op) {
  if (const auto transfer = placed.transfers.find(op); transfer != placed.transfers.end()) {
    return labels.of(op) + "\n" + humanBytes(transfer->second.bytes);
  }
  const std::string_view scope = placed.graph.scopeOf(op);
  return scope.empty() ? displayName(placed.graph, op) : std::string(scope);
}

double tickSeconds(double length) {
  const double least = length / 12;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) {
      return factor * power;
    }
  }
  return 10 * power;
}

std::optional<size_t> Callouts::place(const std::string& label, double middle) {
  const double end = middle + textWidth(label, fontSize);
  for (size_t row = 0; row < mostRows_; ++row) {
    if (row == leftmost_.size()) {
      leftmost_.push_back(std::numeric_limits<double>::infinity());
    }
    if (end + margin <= leftmost_[row]) {
      std::fill_n(leftmost_.begin(), row + 1, middle); // its line goes through the rows below
      return row;
    }
  }
  return std::nullopt;
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

std::optional<Fitted> fittingLargest(const std::string& text, double width, double height) {
  for (const int size : fontSizes) {
    if (auto lines = fitting(text, width, height, size)) {
      return Fitted{*std::move(lines), size};
    }
  }
  return std::nullopt;
}

} // namespace dfc::timeline
