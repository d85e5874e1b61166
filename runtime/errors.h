// What can go wrong while a good plan runs: the machine's failures (exit status 2 of the tools), and values
// that are no numbers, which are the author's (exit status 1). All other mistakes of the author are
// Diagnostics of a Result.
#pragma once

#include "ir/base/diagnostic.h"
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

/// With SessionOptions::checkFinite: an op gave a value that is NaN or infinite. Its one diagnostic names the
/// op, where it was written, its scope, the step, and the ranges of its operands.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

} // namespace dfc
