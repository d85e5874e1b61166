// Which convolutions are calls of cuDNN. Others are generated kernels (kernels/convolution.cpp), as these are
// where a machine has no cuDNN, or a version without an algorithm for the call.
#pragma once

#include "ir/graph/op.h"

namespace dfc::cuda {

/// Whether cuDNN can describe the convolution or gradient of one: both ends of an axis padded alike, and
/// fewer than 2^31 elements in each tensor, but not none. False for other ops.
bool isLibraryConvolution(const OpAttributes& attributes, OperandTypes operands);

} // namespace dfc::cuda
