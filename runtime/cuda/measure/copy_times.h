// Calibration of copies: times of several sizes between pinned host memory and a GPU, or between two GPUs.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace dfc::cuda {

/// An end of a copy: the ordinal of a GPU; none is the host.
using CopyEnd = std::optional<int>;

/// Seconds of a copy of each size, as the probe measures links: the median of 7. Empty for two GPUs without
/// peer access, and for the host alone. Throws MachineError.
std::vector<double> copyTimes(CopyEnd from, CopyEnd to, llvm::ArrayRef<int64_t> bytes);

} // namespace dfc::cuda
