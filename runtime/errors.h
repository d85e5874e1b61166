// The machine's failures: what can go wrong while a good plan runs. One exception type, caught by tools (exit
// status 2); the author's mistakes are Diagnostics instead.
#pragma once

#include "ir/base/visibility.h"

#include <stdexcept>
#include <string>

namespace DFC_PUBLIC dfc {

/// Out of memory, a device lost, a library missing, a step over its time limit. `what()` names the device
/// and, where known, the op and the queue, then the way out.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

} // namespace dfc
