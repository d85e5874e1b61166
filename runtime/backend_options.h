// What a session may choose about its backends.
#pragma once

#include "ir/base/visibility.h"
#include "ir/graph/custom_function.h"

#include <memory>
#include <string>

namespace DFC_PUBLIC dfc {

class Marks; // named ranges for a profiler

/// What a session may choose about its backends; a backend that has no use for a choice ignores it.
struct BackendOptions {
  std::string kernelCache; ///< folder where kernels compiled at run time are kept; empty for none
  bool graphs = true;      ///< false: no CUDA graphs, every command is launched anew each step
  /// false: GPUs exchange through the host, as they do on a system that grants no access. A plan whose
  /// kernels read other GPUs' memory is refused.
  bool peerAccess = true;
  /// A profiler's ranges, which outlive the session. Null: those that a backend of the session has.
  Marks* marks = nullptr;
  /// What custom ops call. Null: those of SessionOptions::customFunctions.
  std::shared_ptr<const CustomFunctions> customFunctions = nullptr;
};

} // namespace dfc
