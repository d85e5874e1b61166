// Calibration of copies that threads of the host make, for the backends that compute with them.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstdint>
#include <vector>

namespace dfc {

/// Seconds of a copy of each size between two ranges of host memory, the median of several. Throws
/// MachineError when memory does not suffice.
std::vector<double> timeHostCopies(llvm::ArrayRef<int64_t> bytes);

} // namespace dfc
