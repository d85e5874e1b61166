// `--calibration TABLE.json`: measured times of ops, for planning and for the backends.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/machine/machine.h"

#include <memory>

namespace dfc::tool {

/// The tables of all files, in their order. Errors: what a file has wrong; a file none of whose tables is of
/// a device of the machine.
Result<std::vector<Calibration>> calibrationsFor(const std::vector<std::string>& paths,
                                                 const Machine& machine);

/// The rows for the first gpu that has any, of all its tables, as a session's backends take them; null
/// when there is none.
std::shared_ptr<const Calibration> calibrationOfGpus(const std::vector<Calibration>& tables,
                                                     const Machine& machine);

} // namespace dfc::tool
