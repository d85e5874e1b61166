// Shared parts of timelines: boxes, lines and texts at fixed positions (for layout neato), display names of
// queues, ticks of an axis. Inches, y upwards; font sizes in points.
#pragma once

#include "ir/draw/dot_parts.h"
#include "ir/draw/scope_view.h"
#include "ir/plan/schedule.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::timeline {

/// The statements with which such a picture begins. `label`: of dot::title.
std::string head(const std::string& label);

/// A box by its left edge, its centre's height and its size; `look`: more attributes.
std::string box(const std::string& id, double left, double y, double width, double height,
                const std::string& look);
/// `label`: a DOT string.
std::string text(const std::string& id, double left, double y, double width, int fontSize,
                 std::string_view colour, const std::string& label);
/// A straight line or arrow between two points.
std::string line(const std::string& id, std::pair<double, double> from, std::pair<double, double> to,
                 const std::string& look);
/// A DOT string of one line that begins at the left edge of its box.
std::string atLeft(std::string_view label);

/// "gpu0 copies in", and a number where a device has several queues of that kind.
std::string displayQueue(const Schedule& schedule, QueueId queue, const Machine& machine);

/// The label of a step: for a transfer "copy w" and its bytes below, else the op's scope, else its display
/// name.
std::string displayStep(const PlacedGraph& placed, const TransferLabels& labels, OpId op);

/// The distance between ticks of an axis of so many seconds (more than 0): 1, 2 or 5 times a power of ten, at
/// most twelve of them.
double tickSeconds(double length);

/// Callouts: labels above the blocks of one queue, each at the top of a line that leads down to its block. A
/// label begins at its line. Rows of labels are filled from right to left, so each row only remembers its
/// leftmost label or line, and no line crosses a text.
class Callouts {
 public:
  static constexpr double height = 0.18; ///< of a row
  static constexpr int fontSize = 11;

  explicit Callouts(size_t mostRows) : mostRows_(mostRows) {}
  size_t rows() const { return leftmost_.size(); }
  /// The row, counted from below, in which a label with its line at `middle` has room; none where no row has.
  std::optional<size_t> place(const std::string& label, double middle);

 private:
  size_t mostRows_;
  std::vector<double> leftmost_;
};

/// Inches that a line of text takes, with some room.
double textWidth(const std::string& text, int fontSize);

/// The text broken into lines where it fits into a space of these inches in this size, else nothing.
std::optional<std::string> fitting(const std::string& text, double width, double height, int fontSize);

struct Fitted {
  std::string text;
  int fontSize;
};
/// The same in the largest of the usual sizes that fits.
std::optional<Fitted> fittingLargest(const std::string& text, double width, double height);

} // namespace dfc::timeline
