// The rate of convolutions by a library.
#pragma once

#include "ir/graph/rules/precision.h"
#include "ir/graph/tensor_type.h"
#include "runtime/cuda/measure/stopwatch.h"

namespace dfc::cuda {

/// Operations a second of convolutions with windows of 3 x 3 over 64 images, channels last, and of their two
/// gradients together: the most over several sizes. 0 where the library is not installed or has none of
/// them. Throws MachineError.
double convolutionRate(int ordinal, ElementType type, Precision precision, Stopwatch& watch);

} // namespace dfc::cuda
