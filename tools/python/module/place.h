// Where a call of Python code is written: the place that ops and mistakes are said to be at.
#pragma once

#include "ir/base/diagnostic.h"

namespace dfc::python {

/// File, line and column (in bytes) of the innermost Python frame outside of the package. Without a frame
/// (no Python code runs) nothing is known. The interpreter's lock is held.
SourceLocation pythonPlace();

} // namespace dfc::python
