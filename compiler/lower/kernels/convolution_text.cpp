// A convolution and its gradients as products of matrices that are never written down (implicit GEMM;
// Chetlur et al., cuDNN: Efficient Primitives for Deep Learning, 2014): each pass says what element (row, k)
// of its left and element (k, column) of its right matrix is, for a group, and where a result goes. What is
// padding, or outside the matrix, is zero.
#include "compiler/lower/kernels/convolution.h"

#include "ir/base/assert.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr std::string_view commonText = R"(
constexpr Index groups = $groups$, channels = $channels$, filters = $filters$; // of a group
constexpr Index window = windowRows * windowColumns;
constexpr Index pixels = heightOut * widthOut, imagePixels = height * width;
constexpr Index rows = $rows$, columns = $columns$, inner = $inner$;
DFC_INLINE f32 fusedSum(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
DFC_INLINE f64 fusedSum(f64 a, f64 b, f64 c) { return fma(a, b, c); }
)";

// Where elements lie, by their channel (of all groups) and the pixel of its plane. A filter's terms are
// counted channel by channel in either layout, so that sums have one order.
constexpr std::string_view channelsFirstText = R"(
DFC_INLINE Index imageIndex(Index n, Index channel, Index pixel) {
  return (n * (groups * channels) + channel) * imagePixels + pixel;
}
DFC_INLINE Index resultIndex(Index n, Index filter, Index pixel) {
  return (n * (groups * filters) + filter) * pixels + pixel;
}
)";
constexpr std::string_view filterChannelsFirstText = R"(
DFC_INLINE Index filterIndex(Index filter, Index term) { return filter * (channels * window) + term; }
)";
constexpr std::string_view channelsLastText = R"(
DFC_INLINE Index imageIndex(Index n, Index channel, Index pixel) {
  return (n * imagePixels + pixel) * (groups * channels) + channel;
}
DFC_INLINE Index resultIndex(Index n, Index filter, Index pixel) {
  return (n * pixels + pixel) * (groups * filters) + filter;
}
)";
constexpr std::string_view filterChannelsLastText = R"(
DFC_INLINE Index filterIndex(Index filter, Index term) {
  return (filter * window + term % window) * channels + term / window;
}
)";

constexpr std::string_view imageText = R"(
// The element of a channel of image `n` that a pixel's window holds at `place`.
DFC_INLINE Real imageAt(const Element* image, Index n, Index channel, Index pixel, Index place) {
  const Index y = rowAt(pixel / widthOut, place / windowColumns);
  const Index x = columnAt(pixel % widthOut, place % windowColumns);
  return y < height && x < width ? Real(valueOf(image[imageIndex(n, channel, y * width + x)])) : Real(0);
}
)";

// From the image and the filter.
constexpr std::string_view forwardText = R"(
DFC_INLINE Real leftAt(const Element*, const Element* filter, Index group, Index row, Index k) {
  return row < rows && k < inner ? Real(valueOf(filter[filterIndex(group * filters + row, k)])) : Real(0);
}
DFC_INLINE Real rightAt(const Element* image, const Element*, Index group, Index k, Index column) {
  if (k >= inner || column >= columns) return Real(0);
  return imageAt(image, column / pixels, group * channels + k / window, column % pixels, k % window);
}
DFC_INLINE Index placeOf(Index group, Index row, Index column) {
  return resultIndex(column / pixels, group * filters + row, column % pixels);
}
)";

// From the filter and the cotangent.
constexpr std::string_view inputText = R"(
DFC_INLINE Real leftAt(const Element* filter, const Element*, Index group, Index row, Index k) {
  if (row >= rows || k >= inner) return Real(0);
  return Real(valueOf(filter[filterIndex(group * filters + k / window, row * window + k % window)]));
}
DFC_INLINE Real rightAt(const Element*, const Element* cotangent, Index group, Index k, Index column) {
  if (k >= inner || column >= columns) return Real(0);
  const Index place = k % window, y = column % imagePixels / width, x = column % width;
  Index row = 0, along = 0;
  if (!windowRow(y, place / windowColumns, row) || !windowColumn(x, place % windowColumns, along)) return Real(0);
  const Index at = resultIndex(column / imagePixels, group * filters + k / window, row * widthOut + along);
  return Real(valueOf(cotangent[at]));
}
DFC_INLINE Index placeOf(Index group, Index row, Index column) {
  return imageIndex(column / imagePixels, group * channels + row, column % imagePixels);
}
)";

// From the image and the cotangent.
constexpr std::string_view filterText = R"(
DFC_INLINE Real leftAt(const Element*, const Element* cotangent, Index group, Index row, Index k) {
  if (row >= rows || k >= inner) return Real(0);
  return Real(valueOf(cotangent[resultIndex(k / pixels, group * filters + row, k % pixels)]));
}
DFC_INLINE Real rightAt(const Element* image, const Element*, Index group, Index k, Index column) {
  if (k >= inner || column >= columns) return Real(0);
  return imageAt(image, k / pixels, group * channels + column / window, k % pixels, column % window);
}
DFC_INLINE Index placeOf(Index group, Index row, Index column) {
  return filterIndex(group * filters + row, column);
}
)";

std::string_view passText(const ProductShape& shape) {
  switch (shape.pass) {
  case ProductShape::Pass::Forward: return forwardText;
  case ProductShape::Pass::InputGradient: return inputText;
  case ProductShape::Pass::FilterGradient: return filterText;
  }
  DFC_UNREACHABLE("pass of a convolution");
}

} // namespace

std::string productText(const ProductShape& shape, ElementType element, int64_t most) {
  const Convolution& conv = shape.conv;
  most = std::max({most, conv.image.elements(), conv.filter.elements(), conv.result.elements(), shape.inner,
                   shape.columns});
  const IndexText index(most);
  return windowsText(conv.windows, element, most) +
         filled(commonText, {{"groups", index.of(conv.groups)},
                             {"channels", index.of(conv.groupChannels())},
                             {"filters", index.of(conv.groupFilters())},
                             {"rows", index.of(shape.rows)},
                             {"columns", index.of(shape.columns)},
                             {"inner", index.of(shape.inner)}}) +
         std::string(conv.layout == ImageLayout::Nchw ? channelsFirstText : channelsLastText) +
         std::string(conv.layout == ImageLayout::Nhwc ? filterChannelsLastText : filterChannelsFirstText) +
         std::string(imageText) + std::string(passText(shape));
}

} // namespace dfc::cuda
