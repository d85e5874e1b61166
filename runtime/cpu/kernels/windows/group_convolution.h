// Convolutions of groups with few channels (depthwise ones among them) and their gradients, for which
// libraries have loops over single elements or products of a few rows. f32 and f64; sums are carried in the
// type itself. How a call is cut depends on its shapes alone.
#pragma once

#include "runtime/cpu/kernels/windows/convolution.h"

namespace dfc {

/// Whether the convolution has groups of few channels or of few filters, and little padding beside its
/// images.
bool suitsGroupConvolution(const Convolution& conv);
/// Of such a convolution. `conv`: with elements in all three tensors.
std::unique_ptr<CpuKernel> makeGroupConvolution(ConvolutionPass pass, const Convolution& conv,
                                                ElementType type, ThreadPool& pool);

} // namespace dfc
