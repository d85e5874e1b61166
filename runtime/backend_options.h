// What a session may choose about its backends.
#pragma once

#include "ir/base/visibility.h"

#include <memory>
#include <string>

namespace DFC_PUBLIC dfc {

class Calibration;
class Marks; // named ranges for a profiler

/// What a session may choose about its backends; a backend that has no use for a choice ignores it.
struct BackendOptions {
  std::string kernelCache; ///< folder where kernels compiled at run time are kept; empty for none
  bool graphs = true;      ///< false: no CUDA graphs, every command is launched anew each step
  /// false: no two ops share a kernel launch, even where both are small. A traced step launches them apart
  /// in any case, so that each has a time of its own.
  bool mergeLaunches = true;
  bool peerAccess =
      true; ///< false: GPUs exchange through the host, as they do on a system that grants no access
  /// false: every transfer between GPUs is a copy. Else the kernel that needs a value may read it in the
  /// other GPU's memory; a traced step makes the copies in any case, so that each has a time of its own.
  bool peerReads = true;
  /// What `calibrate` found on a device of the session, so that kernels need not be chosen again; null for
  /// none. It counts for devices of its own model only.
  std::shared_ptr<const Calibration> calibration = nullptr;
  /// A profiler's ranges, which outlive the session. Null: those that a backend of the session has.
  Marks* marks = nullptr;
};

} // namespace dfc
