// Strides, dilations and padding in the form of oneDNN: shared by convolutions and pools.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>

namespace dfc::onednn {

struct Sliding {
  dnnl::memory::dims strides, dilations, low, high;
};

/// Of a ConvolutionRequest or a PoolRequest.
template <class Request>
Sliding slidingOf(const Request& r) {
  Sliding sliding;
  for (size_t axis = 0; axis < 2; ++axis) {
    sliding.strides.push_back(r.stride[axis]);
    sliding.dilations.push_back(r.dilation[axis] - 1);
    sliding.low.push_back(r.low[axis]);
    // Padding up to the end of the last window; elements of the image behind it are not used.
    const int64_t reach = (r.result[axis] - 1) * r.stride[axis] + (r.window[axis] - 1) * r.dilation[axis] + 1;
    sliding.high.push_back(std::max<int64_t>(0, reach - r.image[axis] - r.low[axis]));
  }
  return sliding;
}

} // namespace dfc::onednn
