// `--calibration TABLE.json`: measured times of ops, for planning and for the backends.
#pragma once

#include "ir/machine/calibration.h"
#include "ir/machine/machine.h"

#include <string>
#include <vector>

namespace dfc::tool {

/// The tables of all files, in their order. Errors: what a file has wrong; a file none of whose tables is of
/// a device of the machine.
Result<std::vector<Calibration>> calibrationsFor(const std::vector<std::string>& paths,
                                                 const Machine& machine);

/// One table a model, with the rows of all its tables; of two rows of one op, the later.
std::vector<Calibration> mergedByModel(const std::vector<Calibration>& tables);

} // namespace dfc::tool
