// Pools and their gradients: a thread for each element of the result. An image element's gradient looks at
// the windows that hold it, so nothing is added atomically; the winners of a maxPool are found by a launch
// before. A pool whose window is the whole plane is a reduction.
#include "runtime/cuda/kernels/windows.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view resultText = R"(
constexpr Index count = $count$, pixels = heightOut * widthOut;
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= count) return;
  const Index row = i % pixels / widthOut, column = i % widthOut;
  const Element* const plane = from + i / pixels * (height * width);
$start$  for (Index a = 0; a < windowRows; ++a) {
    const Index y = rowAt(row, a);
    if (y >= height) continue;
    for (Index b = 0; b < windowColumns; ++b) {
      const Index x = columnAt(column, b);
      if (x >= width) continue;
      const $Value$ value = valueOf(plane[y * width + x]);
$add$    }
  }
$finish$}
)";

constexpr std::string_view imageText = R"(
constexpr Index count = $count$, pixels = heightOut * widthOut;
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= count) return;
  const Index at = i % (height * width), base = i / (height * width) * pixels;
  Real sum = 0;
  for (Index a = windowRows; a-- > 0;) { // the first window first
    Index row = 0;
    if (!windowRow(at / width, a, row)) continue;
    for (Index b = windowColumns; b-- > 0;) {
      Index column = 0;
      if (!windowColumn(at % width, b, column)) continue;
      const Index window = base + row * widthOut + column;
$add$    }
  }
  to[i] = stored<Element>(sum);
}
)";

// Elements of a window that a mean is taken of.
constexpr std::string_view divisorText = R"(
DFC_INLINE Index inside(Index window, Index stride, Index low, Index size, Index length) {
  const Index from = window * stride, to = from + size; // in the padded image
  return (to < length + low ? to : length + low) - (from > low ? from : low);
}
DFC_INLINE Real divisorOf(Index row, Index column) {
  return Real(inside(row, strideRows, lowRows, windowRows, height)) *
         Real(inside(column, strideColumns, lowColumns, windowColumns, width));
}
)";
constexpr std::string_view wholeDivisorText = R"(
DFC_INLINE Real divisorOf(Index, Index) { return Real(windowRows) * Real(windowColumns); }
)";

GeneratedKernels overPlane(const TensorType& image, ReductionKind kind, const GpuShape& gpu) {
  return reducedChain(identityChain(image), image.element, kind, image.shape, {2, 3}, gpu);
}

// The text for every element of the result, or of the image.
struct PlaneText {
  std::string_view text;
  std::string parameters, value, start, add, finish;
};

GeneratedLaunch launchOf(const PlaneText& text, const Windows& windows, ElementType element, int64_t count,
                         int64_t others, std::string_view helpers = "") {
  const IndexText index(std::max(count, others));
  return elementLaunch(windowsText(windows, element, std::max(count, others)) + std::string(helpers) +
                           filled(text.text, {{"count", index.of(count)},
                                              {"parameters", text.parameters},
                                              {"Value", text.value},
                                              {"start", text.start},
                                              {"add", text.add},
                                              {"finish", text.finish}}),
                       count);
}

std::string_view divisors(bool countPadding) { return countPadding ? wholeDivisorText : divisorText; }

// `NaN beats all, the first of equals stays`, as the prelude's `larger`, with what the winner brings.
constexpr std::string_view beatsText = R"(
template <class V> DFC_INLINE bool beats(V next, V best) { return !isNan(best) && (next > best || isNan(next)); }
)";

} // namespace

GeneratedKernels maxPoolKernel(const ops::MaxPool& op, const TensorType& image, const TensorType& result,
                               const GpuShape& gpu) {
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return overPlane(image, ReductionKind::Max, gpu);
  }
  const std::string value(valueName(image.element));
  GeneratedLaunch launch = launchOf({resultText, "const Element* from, Element* to", value,
                                     "  " + value + " best = 0;\n  bool any = false;\n",
                                     "      best = any ? larger(best, value) : value;\n      any = true;\n",
                                     "  to[i] = stored<Element>(best);\n"},
                                    windows, image.element, result.shape.elements(), image.shape.elements());
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

GeneratedKernels maxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands) {
  const TensorType& image = operands[0];
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  const int64_t elements = image.shape.elements(), count = operands[1].shape.elements();
  const std::string value(valueName(image.element));
  GeneratedLaunch find = launchOf({resultText, "const Element* from, Index* to", value,
                                   "  " + value + " best = 0;\n  Index winner = ~Index(0);\n",
                                   "      if (winner == ~Index(0) || beats(value, best)) {\n"
                                   "        best = value;\n        winner = y * width + x;\n      }\n",
                                   "  to[i] = winner;\n"},
                                  windows, image.element, count, elements, beatsText);
  find.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Workspace, 0, 0}};
  GeneratedLaunch gather =
      launchOf({imageText, "const Index* winners, const Element* cotangent, Element* to", "", "",
                "      if (winners[window] == at) sum += Real(valueOf(cotangent[window]));\n", ""},
               windows, image.element, elements, count);
  gather.arguments = {
      {Argument::From::Workspace, 0, 0}, {Argument::From::Operand, 1, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(find), std::move(gather)}, count * 8};
}

GeneratedKernels averagePoolKernel(const ops::AveragePool& op, const TensorType& image,
                                   const TensorType& result, const GpuShape& gpu) {
  const Windows windows = windowsOf(image.shape, windowAttributes(op));
  if (isWholePlane(windows)) {
    return overPlane(image, ReductionKind::Mean, gpu);
  }
  GeneratedLaunch launch = launchOf(
      {resultText, "const Element* from, Element* to", "Real", "  Real sum = 0;\n", "      sum += value;\n",
       "  to[i] = stored<Element>(sum / divisorOf(row, column));\n"},
      windows, image.element, result.shape.elements(), image.shape.elements(), divisors(op.countPadding));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

GeneratedKernels averagePoolGradientKernel(const ops::AveragePoolGradient& op, const TensorType& cotangent,
                                           const TensorType& result) {
  const Windows windows = windowsOf(result.shape, windowAttributes(op));
  GeneratedLaunch launch =
      launchOf({imageText, "const Element* cotangent, Element* to", "", "",
                "      sum += Real(valueOf(cotangent[window])) / divisorOf(row, column);\n", ""},
               windows, result.element, result.shape.elements(), cotangent.shape.elements(),
               divisors(op.countPadding));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
