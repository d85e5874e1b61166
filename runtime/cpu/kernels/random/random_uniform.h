// The kernel of randomUniform.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

std::unique_ptr<CpuKernel> makeRandomUniformKernel(const ops::RandomUniform& op, ThreadPool& pool);

} // namespace dfc
