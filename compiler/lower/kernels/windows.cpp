#include "compiler/lower/kernels/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

// A coordinate that would be negative wraps to a huge number, and is found outside with one comparison.
constexpr std::string_view coordinatesText = R"(
// The row or column that window `window` holds at `k`, which may be padding.
DFC_INLINE Index rowAt(Index window, Index k) { return window * strideRows + k * dilationRows - lowRows; }
DFC_INLINE Index columnAt(Index window, Index k) {
  return window * strideColumns + k * dilationColumns - lowColumns;
}
// Whether a window holds `row` at `k`, and which.
DFC_INLINE bool windowRow(Index row, Index k, Index& window) {
  const Index from = row + lowRows - k * dilationRows;
  window = from / strideRows;
  return from < height + lowRows && window * strideRows == from && window < heightOut;
}
DFC_INLINE bool windowColumn(Index column, Index k, Index& window) {
  const Index from = column + lowColumns - k * dilationColumns;
  window = from / strideColumns;
  return from < width + lowColumns && window * strideColumns == from && window < widthOut;
}
)";

std::string axisText(const WindowAxis& axis, const IndexText& index, std::string_view length,
                     std::string_view suffix) {
  const auto number = [&](const std::string& name, int64_t value) {
    return constant("Index", name, index.of(value));
  };
  const std::string after(suffix);
  return number(std::string(length), axis.length) + number(std::string(length) + "Out", axis.count) +
         number("window" + after, axis.size) + number("stride" + after, axis.stride) +
         number("low" + after, axis.low) + number("dilation" + after, axis.dilation);
}

int64_t padded(const WindowAxis& axis) {
  return std::max(axis.length + axis.low, axis.count * axis.stride) + axis.size * axis.dilation;
}

} // namespace

std::string windowsText(const Windows& windows, ElementType element, int64_t elements) {
  const IndexText index(std::max({elements, padded(windows.rows), padded(windows.columns)}));
  const std::string_view real = element == ElementType::F64 ? "f64" : "f32";
  return fmt::format("using Index = {};\nusing Element = {};\nusing Real = {};\n", index.type(),
                     storageName(element), real) +
         axisText(windows.rows, index, "height", "Rows") +
         axisText(windows.columns, index, "width", "Columns") + std::string(coordinatesText);
}

GeneratedLaunch elementLaunch(std::string code, int64_t elements) {
  GeneratedLaunch launch;
  launch.code = std::move(code);
  launch.grid[0] = static_cast<uint32_t>(ceilDiv(elements, windowThreads));
  launch.threads = static_cast<uint32_t>(windowThreads);
  return launch;
}

} // namespace dfc::cuda
