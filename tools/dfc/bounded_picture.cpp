#include "tools/dfc/bounded_picture.h"

#include "ir/author/text/units.h"
#include "tools/dfc/graphviz.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace dfc::tool {
namespace {

/// Boxes, frames and arrows: each is a statement on a line of its own.
size_t statementsOf(const std::string& dot) {
  size_t statements = 0;
  for (size_t at = dot.find(";\n"); at != std::string::npos; at = dot.find(";\n", at + 2)) {
    ++statements;
  }
  return statements;
}

using Clock = std::chrono::steady_clock;

double secondsBetween(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

Clock::time_point deadlineOf(Clock::time_point begin) {
  const auto after = [](Clock::time_point time, double seconds) {
    return time + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  return std::max(after(begin, mostDrawingSeconds), after(Clock::now(), leastDrawingSeconds));
}

std::string tooLarge(size_t statements) {
  return fmt::format("op by op it has {} boxes and arrows, more than the {} that can be read", statements,
                     mostStatements);
}

Diagnostic noneInTime(double seconds) {
  return errorWithoutPlace(
      fmt::format("Graphviz did not finish within {:.0f} seconds, nor did it with fewer boxes", seconds),
      "write -o FILE.html, a page that shows plans of any size, or a .dot file");
}

} // namespace

Result<BoundedPicture> boundedPicture(const Picture& picture, const std::string& ending,
                                      Clock::time_point begin, bool always) {
  const auto deadline = deadlineOf(begin);
  std::string dot = picture.whole, notice;
  size_t next = 0; // of the coarser ones
  const bool text = ending == ".dot";
  while (!(always && text) && statementsOf(dot) > mostStatements && next < picture.coarser.size()) {
    notice = notice.empty() ? tooLarge(statementsOf(dot)) : notice;
    dot = picture.coarser[next++](notice);
  }
  if (text) {
    return BoundedPicture{std::move(dot), std::move(notice)};
  }
  for (;;) {
    const double left = secondsBetween(Clock::now(), deadline);
    const bool last = next == picture.coarser.size();
    auto drawn = renderDot(dot, ending.substr(1), last ? left : left * 0.6);
    if (!drawn) {
      return drawn.errors();
    }
    if (drawn->has_value()) {
      return BoundedPicture{*std::move(*drawn), std::move(notice)};
    }
    if (last) {
      return noneInTime(secondsBetween(begin, deadline));
    }
    notice = notice.empty() ? "Graphviz could not lay out all of it in time" : notice;
    dot = picture.coarser[next++](notice);
  }
}

} // namespace dfc::tool
