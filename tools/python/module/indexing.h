// NumPy's basic indexing of a tensor, and by one tensor of indices.
#pragma once

#include "tools/python/module/values.h"

namespace dfc::python {

/// `self[index]`: whole numbers, slices with steps above 0, `...`, None, and one tensor or array of indices.
/// Raises IndexError for a number out of range, TypeError for what dfc has no op for.
Value indexed(const Value& self, const Arg& index);

} // namespace dfc::python
