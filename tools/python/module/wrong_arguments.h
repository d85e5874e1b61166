// Calls with arguments that do not fit.
#pragma once

#include <nanobind/nanobind.h>

namespace dfc::python {

/// Lets every function and method of the module say what is wrong with its arguments, and how it is called
/// (the package's wrong_arguments.py), where nanobind would give its own text. Costs a call without a mistake
/// a jump. Once, when all are bound.
void explainWrongArguments(nanobind::module_& module);

} // namespace dfc::python
