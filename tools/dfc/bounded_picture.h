// Pictures that stay within limits: one that is too large, or that Graphviz cannot lay out in time, is
// replaced by a coarser one of the same graph, which says so.
#pragma once

#include "ir/base/diagnostic.h"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace dfc::tool {

/// A picture, as DOT, that is made when it is asked for. `reason`: why the finer ones were not taken, to
/// stand in it.
using MakeDot = std::function<std::string(const std::string& reason)>;

struct Picture {
  std::string whole;
  std::vector<MakeDot> coarser; ///< the finest first; may be none
};

struct BoundedPicture {
  std::string contents; ///< DOT, SVG or PNG
  std::string notice;   ///< "" where it is the whole picture, else why not
};

/// More boxes, frames and arrows are not laid out in reasonable time, nor read by anyone.
inline constexpr size_t mostStatements = 3000;
/// From the program's start to the end of Graphviz' last attempt, where reading and planning leave it
/// `leastDrawingSeconds`.
inline constexpr double mostDrawingSeconds = 9, leastDrawingSeconds = 4;

/// `ending`: ".dot", ".svg" or ".png". `begin`: when the program began. With `always`, the whole picture
/// where it is text.
Result<BoundedPicture> boundedPicture(const Picture& picture, const std::string& ending,
                                      std::chrono::steady_clock::time_point begin, bool always = false);

} // namespace dfc::tool
