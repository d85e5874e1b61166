// Windows in the form of requests to the oneDNN module: shared by convolutions and pools.
#pragma once

#include "ir/graph/rules/windows.h"

namespace dfc {

/// For a onednn::ConvolutionRequest or a onednn::PoolRequest.
template <class Request>
void setWindows(Request& request, const Windows& windows) {
  const WindowAxis* axes[2] = {&windows.rows, &windows.columns};
  for (size_t i = 0; i < 2; ++i) {
    request.image[i] = axes[i]->length;
    request.result[i] = axes[i]->count;
    request.window[i] = axes[i]->size;
    request.stride[i] = axes[i]->stride;
    request.low[i] = axes[i]->low;
    request.dilation[i] = axes[i]->dilation;
  }
}

} // namespace dfc
