// Pools and their gradients: a thread for each element of the result, or for a pack of channels where these
// lie side by side. An image element's gradient looks at the windows that hold it, so nothing is added
// atomically; the winners of a maxPool, by their places in the windows, are found by a launch before. A pool
// whose window is the whole plane is a reduction.
#include "compiler/lower/kernels/windows.h"

#include "ir/graph/rules/layout.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

// Where a plane of an image or of a result begins, and how far its pixels lie apart. Pack i of a tensor holds
// `lanes` elements of pixel `pixelOf(i, …)`, one of each plane from `planeOf(i, …)` on.
constexpr std::string_view channelsFirstText = R"(
constexpr int lanes = 1;
constexpr Index apart = 1;
DFC_INLINE Index planeOf(Index i, Index pixels) { return i / pixels; }
DFC_INLINE Index pixelOf(Index i, Index pixels) { return i % pixels; }
DFC_INLINE Index beginOf(Index plane, Index pixels) { return plane * pixels; }
)";
constexpr std::string_view channelsLastText = R"(
constexpr int lanes = $lanes$;
constexpr Index apart = $channels$;
DFC_INLINE Index planeOf(Index i, Index pixels) {
  return i / (pixels * (apart / lanes)) * apart + i % (apart / lanes) * lanes;
}
DFC_INLINE Index pixelOf(Index i, Index pixels) { return i / (apart / lanes) % pixels; }
DFC_INLINE Index beginOf(Index plane, Index pixels) { return plane / apart * (pixels * apart) + plane % apart; }
)";

constexpr std::string_view resultText = R"(
constexpr Index count = $count$, pixels = heightOut * widthOut;
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= count) return;
  const Index row = pixelOf(i, pixels) / widthOut, column = pixelOf(i, pixels) % widthOut;
  const Element* const plane = from + beginOf(planeOf(i, pixels), height * width);
$start$  for (Index a = 0; a < windowRows; ++a) {
    const Index y = rowAt(row, a);
    if (y >= height) continue;
    for (Index b = 0; b < windowColumns; ++b) {
      const Index x = columnAt(column, b);
      if (x >= width) continue;
      const Pack<Element, lanes> pack = loadPack<lanes>(plane + (y * width + x) * apart);
#pragma unroll
      for (int k = 0; k < lanes; ++k) {
        const $Value$ value = valueOf(pack.at[k]);
$add$      }
$next$    }
  }
$finish$}
)";

constexpr std::string_view imageText = R"(
constexpr Index count = $count$, pixels = heightOut * widthOut;
struct Shared {};
DFC_INLINE void run($parameters$, const Block& block, Shared&) {
  const Index i = Index(block.x) * 256 + threadIdx.x;
  if (i >= count) return;
  const Index pixel = pixelOf(i, height * width), base = beginOf(planeOf(i, height * width), pixels);
  Real sum[lanes];
#pragma unroll
  for (int k = 0; k < lanes; ++k) sum[k] = 0;
  for (Index a = windowRows; a-- > 0;) { // the first window first
    Index row = 0;
    if (!windowRow(pixel / width, a, row)) continue;
    for (Index b = windowColumns; b-- > 0;) {
      Index column = 0;
      if (!windowColumn(pixel % width, b, column)) continue;
      const Index window = base + (row * widthOut + column) * apart;
      const Pack<Element, lanes> pack = loadPack<lanes>(cotangent + window);
$load$#pragma unroll
      for (int k = 0; k < lanes; ++k) {
$add$      }
    }
  }
  Pack<Element, lanes> result;
#pragma unroll
  for (int k = 0; k < lanes; ++k) result.at[k] = stored<Element>(sum[k]);
  storePack(to + i * lanes, result);
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

GeneratedKernels overPlane(const TensorType& image, ImageLayout layout, ReductionKind kind,
                           const GpuShape& gpu) {
  const bool last = layout == ImageLayout::Nhwc;
  const Dims axes = last ? Dims{1, 2} : Dims{2, 3};
  return reducedChain(identityChain(image), image.element, kind, image.shape, axes, gpu);
}

// The text for every element of the result, or of the image.
struct PlaneText {
  std::string_view text;
  std::string parameters, value, start, load, add, next, finish;
};

// A pool's windows, and the images that they slide over.
struct Planes {
  Windows windows;
  ImageLayout layout;
  int64_t channels;
  ElementType element;

  int64_t lanes = 1; ///< channels that a thread takes

  template <class Op>
  Planes(const Op& op, const TensorType& image)
      : windows(windowsOf(channelsFirst(op.layout, image.shape), windowAttributes(op))), layout(op.layout),
        channels(channelsFirst(op.layout, image.shape)[1]), element(image.element) {
    if (layout == ImageLayout::Nhwc) {
      lanes = commonPowerOf2(packBytes / byteWidth(element), {channels});
    }
  }
};

GeneratedLaunch launchOf(const PlaneText& text, const Planes& planes, int64_t elements, int64_t others,
                         std::string_view helpers = "") {
  const int64_t most = std::max(elements, others), count = elements / planes.lanes;
  const IndexText index(most);
  const std::string places =
      planes.layout == ImageLayout::Nhwc
          ? filled(channelsLastText, {{"channels", index.of(std::max<int64_t>(planes.channels, 1))},
                                      {"lanes", std::to_string(planes.lanes)}})
          : std::string(channelsFirstText);
  return elementLaunch(windowsText(planes.windows, planes.element, most) + places + std::string(helpers) +
                           filled(text.text, {{"count", index.of(count)},
                                              {"parameters", text.parameters},
                                              {"Value", text.value},
                                              {"start", text.start},
                                              {"load", text.load},
                                              {"add", text.add},
                                              {"next", text.next},
                                              {"finish", text.finish}}),
                       count);
}

// Statements for each lane.
std::string forLanes(std::string_view statement) {
  return "#pragma unroll\n  for (int k = 0; k < lanes; ++k) " + std::string(statement) + "\n";
}
// The end of a text whose result k is `value`, of `type`.
std::string storing(std::string_view type, std::string_view value) {
  return "  Pack<" + std::string(type) + ", lanes> result;\n" +
         forLanes("result.at[k] = " + std::string(value) + ";") + "  storePack(to + i * lanes, result);\n";
}

std::string_view divisors(bool countPadding) { return countPadding ? wholeDivisorText : divisorText; }

// `NaN beats all, the first of equals stays`, as the prelude's `larger`, with what the winner brings.
constexpr std::string_view beatsText = R"(
template <class V> DFC_INLINE bool beats(V next, V best) { return !isNan(best) && (next > best || isNan(next)); }
)";

} // namespace

GeneratedKernels maxPoolKernel(const ops::MaxPool& op, const TensorType& image, const TensorType& result,
                               const GpuShape& gpu) {
  const Planes planes(op, image);
  if (isWholePlane(planes.windows)) {
    return overPlane(image, op.layout, ReductionKind::Max, gpu);
  }
  const std::string value(valueName(image.element));
  GeneratedLaunch launch = launchOf({resultText, "const Element* from, Element* to", value,
                                     "  " + value + " best[lanes];\n  bool any = false;\n", "",
                                     "        best[k] = any ? larger(best[k], value) : value;\n",
                                     "      any = true;\n", storing("Element", "stored<Element>(best[k])")},
                                    planes, result.shape.elements(), image.shape.elements());
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

GeneratedKernels maxPoolGradientKernel(const ops::MaxPoolGradient& op, OperandTypes operands) {
  const TensorType& image = operands[0];
  Planes planes(op, image);
  const int64_t elements = image.shape.elements(), count = operands[1].shape.elements();
  const std::string value(valueName(image.element));
  // A winner is known by its place in the window: one byte, if that has so few places.
  const bool small = planes.windows.size() < 256;
  const std::string code = small ? "u8" : "u32";
  planes.lanes = small ? planes.lanes : std::min<int64_t>(planes.lanes, packBytes / 4);
  GeneratedLaunch find =
      launchOf({resultText, "const Element* from, " + code + "* to", value,
                "  " + value + " best[lanes];\n  u32 winner[lanes];\n  bool any = false;\n", "",
                "        if (!any || beats(value, best[k])) {\n"
                "          best[k] = value;\n          winner[k] = u32(a * windowColumns + b);\n        }\n",
                "      any = true;\n", storing(code, code + "(winner[k])")},
               planes, count, elements, beatsText);
  find.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Workspace, 0, 0}};
  GeneratedLaunch gather = launchOf(
      {imageText, "const " + code + "* winners, const Element* cotangent, Element* to", "", "",
       "      const Pack<" + code + ", lanes> winner = loadPack<lanes>(winners + window);\n",
       "        if (winner.at[k] == a * windowColumns + b) sum[k] += Real(valueOf(pack.at[k]));\n", "", ""},
      planes, elements, count);
  gather.arguments = {
      {Argument::From::Workspace, 0, 0}, {Argument::From::Operand, 1, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(find), std::move(gather)}, count * (small ? 1 : 4)};
}

GeneratedKernels averagePoolKernel(const ops::AveragePool& op, const TensorType& image,
                                   const TensorType& result, const GpuShape& gpu) {
  const Planes planes(op, image);
  if (isWholePlane(planes.windows)) {
    return overPlane(image, op.layout, ReductionKind::Mean, gpu);
  }
  GeneratedLaunch launch =
      launchOf({resultText, "const Element* from, Element* to", "Real",
                "  Real sum[lanes];\n" + forLanes("sum[k] = 0;"), "", "        sum[k] += value;\n", "",
                "  const Real divisor = divisorOf(row, column);\n" +
                    storing("Element", "stored<Element>(sum[k] / divisor)")},
               planes, result.shape.elements(), image.shape.elements(), divisors(op.countPadding));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

GeneratedKernels averagePoolGradientKernel(const ops::AveragePoolGradient& op, const TensorType& cotangent,
                                           const TensorType& result) {
  const Planes planes(op, result);
  GeneratedLaunch launch =
      launchOf({imageText, "const Element* cotangent, Element* to", "", "",
                "      const Real divisor = divisorOf(row, column);\n",
                "        sum[k] += Real(valueOf(pack.at[k])) / divisor;\n", "", ""},
               planes, result.shape.elements(), cotangent.shape.elements(), divisors(op.countPadding));
  launch.arguments = {{Argument::From::Operand, 0, 0}, {Argument::From::Result, 0, 0}};
  return {{std::move(launch)}, 0};
}

} // namespace dfc::cuda
