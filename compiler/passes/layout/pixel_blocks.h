// PixelBlocks: how a convolution with strides is one without, of blocks of pixels. For space_to_depth.
//
// A block holds `stride` pixels along each axis; the channels of its pixels become the channels of one pixel
// (space to depth). A window of k places then holds ceil(k / stride) blocks, the last or first of them with
// zero taps in part.
#pragma once

#include "ir/graph/rules/convolution.h"

#include <optional>

namespace dfc {

/// One axis. Zeros are added to pixels before they become blocks, or whole blocks of zeros behind that; in
/// the latter case filters begin with zero taps where the author's padding is no multiple of a block.
struct BlockAxis {
  int64_t block = 1; ///< pixels: the stride
  int64_t taken = 1; ///< pixels of the image that count; behind them no window reaches
  int64_t lowPixels = 0, highPixels = 0;
  int64_t lowBlocks = 0, highBlocks = 0;
  int64_t frontTaps = 0, backTaps = 0; ///< zeros around a filter
  int64_t windowBlocks = 1;            ///< blocks of a window

  int64_t pixels() const { return lowPixels + taken + highPixels; }
  int64_t blocks() const { return pixels() / block; }

  /// Padding by blocks is the convolution's own where both ends are alike: libraries have no other. Else the
  /// image is padded before.
  bool padsItself() const { return lowBlocks == highBlocks; }
  int64_t ownPadding() const { return padsItself() ? lowBlocks : 0; }
  int64_t blocksBefore() const { return padsItself() ? 0 : lowBlocks; }
  int64_t blocksBehind() const { return padsItself() ? 0 : highBlocks; }
  int64_t paddedBlocks() const { return blocksBefore() + blocks() + blocksBehind(); }
  friend bool operator==(const BlockAxis&, const BlockAxis&) = default;
};

struct PixelBlocks {
  BlockAxis rows, columns;
  int64_t channels = 1;       ///< of a block: the image's, once for each pixel
  int64_t paddedChannels = 1; ///< with zeros up to whole groups of 16 bytes, on tensor cores

  int64_t area() const { return rows.block * columns.block; }
  /// Of a pixel, with zeros where those make the padded channels of a block; else as they are.
  int64_t pixelChannels() const {
    return (paddedChannels % area() == 0 ? paddedChannels : channels) / area();
  }
  bool padsPixels() const {
    return rows.lowPixels + rows.highPixels + columns.lowPixels + columns.highPixels > 0;
  }
  friend bool operator==(const PixelBlocks&, const PixelBlocks&) = default;
};

/// The blocks in which `call`, of images of `element`, takes less time on a GPU; none where it does not, or
/// has no strides, or has groups or dilations.
///
/// Time is counted in bytes of memory traffic. A convolution gathers, for each pixel of its result and each
/// place of the window, the channels of a pixel, and that costs a sector of 32 bytes more: so counted, the
/// forward pass of ResNet's first convolution runs at about the memory bandwidth, as it is and in blocks, in
/// tf32 and in bf16 (tools/bench/README.md has the measurements). Movement reads and writes its tensors. Only
/// images of few channels, less than a sector, are considered: longer pixels are read at full speed, and
/// images between the layers lie well already. In full f32 CUDA cores are bound by multiply-adds: there no
/// tap may be added.
std::optional<PixelBlocks> pixelBlocks(const ConvolutionCall& call, ElementType element);

} // namespace dfc
