// One GPU as a session has opened it.
#pragma once

#include <string>

namespace dfc::cuda {

struct Gpu {
  int ordinal = 0;          ///< CUDA's
  std::string name;         ///< the plan's: "gpu0"
  std::string model;        ///< "NVIDIA H200"
  std::string architecture; ///< "sm_90"
};

} // namespace dfc::cuda
