#include "compiler/passes/layout/pixel_blocks.h"

#include <algorithm>

namespace dfc {
namespace {

constexpr int64_t sector = 32, group = 16; // bytes: of a read from memory, of operands of tensor cores

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t roundedUp(int64_t a, int64_t to) { return ceilDiv(a, to) * to; }

// Padding of the blocked image by whole blocks of zeros; none if a filter would then cover more blocks than
// with padding by pixels.
std::optional<BlockAxis> paddedByBlocks(const WindowAxis& axis) {
  const int64_t stride = axis.stride, low = roundedUp(axis.low, stride);
  BlockAxis made{.block = stride, .taken = axis.length};
  made.lowBlocks = low / stride;
  made.frontTaps = low - axis.low;
  made.windowBlocks = ceilDiv(axis.size + made.frontTaps, stride);
  made.backTaps = made.windowBlocks * stride - axis.size - made.frontTaps;
  made.highBlocks = axis.count + made.windowBlocks - 1 - made.lowBlocks - axis.length / stride;
  const bool fits =
      axis.length % stride == 0 && made.highBlocks >= 0 && made.windowBlocks == ceilDiv(axis.size, stride);
  return fits ? std::optional(made) : std::nullopt;
}

BlockAxis paddedByPixels(const WindowAxis& axis) {
  const int64_t stride = axis.stride;
  BlockAxis made{.block = stride};
  made.windowBlocks = ceilDiv(axis.size, stride);
  made.backTaps = made.windowBlocks * stride - axis.size;
  made.lowPixels = axis.low;
  const int64_t pixels = (axis.count + made.windowBlocks - 1) * stride;
  made.taken = std::min(axis.length, pixels - axis.low);
  made.highPixels = pixels - axis.low - made.taken;
  return made;
}

BlockAxis blocksOf(const WindowAxis& axis) {
  const std::optional<BlockAxis> whole = paddedByBlocks(axis);
  return whole ? *whole : paddedByPixels(axis);
}

bool isCandidate(const Convolution& conv) {
  const auto strides = [](const WindowAxis& axis) {
    return axis.dilation == 1 && axis.size >= axis.stride && axis.low >= 0;
  };
  const WindowAxis &rows = conv.windows.rows, &columns = conv.windows.columns;
  return conv.layout == ImageLayout::Nchw && conv.groups == 1 && strides(rows) && strides(columns) &&
         rows.stride * columns.stride > 1 && conv.image.elements() > 0 && conv.result.elements() > 0 &&
         conv.filter.elements() > 0;
}

// Bytes as the header counts them.
class Traffic {
 public:
  Traffic(const Convolution& conv, int64_t width, bool grouped)
      : conv_(conv), width_(width), group_(grouped ? group / width : 1) {}

  int64_t padded(int64_t channels) const { return roundedUp(channels, group_); }

  // A transpose of the image, and its channels padded.
  double asItIs() const {
    const double pixels = pixelsOf(conv_.imagePixels());
    const int64_t channels = conv_.image[1], wide = padded(channels);
    return gathered(conv_.windows.size(), wide) + pixels * bytes(2 * channels) +
           (wide == channels ? 0 : pixels * bytes(channels + wide));
  }
  double inBlocks(const PixelBlocks& to) const {
    const BlockAxis &rows = to.rows, &columns = to.columns;
    const double before = pixelsOf(rows.blocks() * columns.blocks()) * bytes(to.channels);
    const double after = pixelsOf(rows.paddedBlocks() * columns.paddedBlocks()) * bytes(to.paddedChannels);
    const double byPixels = pixelsOf(rows.taken * columns.taken) * bytes(conv_.image[1]);
    return gathered(rows.windowBlocks * columns.windowBlocks, to.paddedChannels) + 2 * before +
           (before == byPixels ? 0 : byPixels + before) + (before == after ? 0 : before + after);
  }

 private:
  double bytes(int64_t channels) const { return static_cast<double>(channels * width_); }
  double pixelsOf(int64_t ofOne) const {
    return static_cast<double>(conv_.batch()) * static_cast<double>(ofOne);
  }
  double gathered(int64_t places, int64_t channels) const {
    return pixelsOf(conv_.pixels()) * static_cast<double>(places) * (bytes(channels) + sector);
  }

  const Convolution& conv_;
  int64_t width_, group_;
};

} // namespace

std::optional<PixelBlocks> pixelBlocks(const ConvolutionCall& call, ElementType element) {
  const Convolution& conv = call.conv;
  const int64_t width = byteWidth(element), channels = conv.image[1];
  if (width > 4 || !isCandidate(conv) || channels * width >= sector) {
    return std::nullopt;
  }
  PixelBlocks made{blocksOf(conv.windows.rows), blocksOf(conv.windows.columns)};
  const BlockAxis &rows = made.rows, &columns = made.columns;
  const int64_t taps = rows.windowBlocks * rows.block * columns.windowBlocks * columns.block;
  const bool tensorCores = width == 2 || call.precision == Precision::Tf32;
  if (rows.taken <= 0 || columns.taken <= 0 || (!tensorCores && taps > conv.windows.size())) {
    return std::nullopt;
  }
  const Traffic traffic(conv, width, tensorCores);
  made.channels = channels * made.area();
  made.paddedChannels = traffic.padded(made.channels);
  return traffic.inBlocks(made) < traffic.asItIs() ? std::optional(made) : std::nullopt;
}

} // namespace dfc
