// Functions of Python that custom ops call.
#pragma once

#include "ir/graph/custom_function.h"

#include <nanobind/nanobind.h>

namespace dfc::python {

/// Of a mapping from names to callables f(operands, results), each a tuple of NumPy arrays over the values
/// where they lie; or of the path of a C library; or of None: none.
CustomFunctions functionsOf(const nanobind::object& given);

} // namespace dfc::python
