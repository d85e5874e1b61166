// Functions of Python that custom ops call.
#pragma once

#include "ir/graph/custom_function.h"

#include <nanobind/nanobind.h>

#include <memory>

namespace dfc::python {

/// A callable whose last owner may be any thread.
std::shared_ptr<nanobind::object> sharedCallable(nanobind::handle callable);

/// Of a mapping from names to callables f(operands, results), each a tuple of NumPy arrays over the values
/// where they lie; or of the path of a C library; or of None: none.
CustomFunctions functionsOf(const nanobind::object& given);

} // namespace dfc::python
