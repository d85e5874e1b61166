// The kernel of dropout: it drops the same elements as every other device (ir/graph/rules/dropout_mask.h).
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeDropoutKernel(const ops::Dropout& op, OperandTypes operands, ThreadPool& pool);

} // namespace dfc
