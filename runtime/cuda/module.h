// The one symbol of libdfc_cuda.so, which `runtime/cuda_backend.cpp` opens at run time.
#pragma once

#include "runtime/backend.h"

namespace dfc::cuda {

inline constexpr const char* moduleSymbol = "dfcCudaBackend";
using ModuleFunction = Backend* (*)();

} // namespace dfc::cuda
