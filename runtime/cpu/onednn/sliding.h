// How windows slide, as oneDNN says it: what convolutions and pools share.
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
    // As much as the last window reaches; what lies behind it does not matter.
    const int64_t reach = (r.result[axis] - 1) * r.stride[axis] + (r.window[axis] - 1) * r.dilation[axis] + 1;
    sliding.high.push_back(std::max<int64_t>(0, reach - r.image[axis] - r.low[axis]));
  }
  return sliding;
}

} // namespace dfc::onednn
