// dfc's errors and warnings as Python's: package file errors.py has the classes.
#pragma once

#include "ir/base/diagnostic.h"

#include <nanobind/nanobind.h>

namespace dfc::python {

/// Makes the module's C++ errors Python exceptions.
void bindErrors(nanobind::module_& module);

/// Warns of each by Python's `warnings`, as PlanWarning. May raise, where the user made errors of warnings.
void warnOf(const Diagnostics& warnings);

/// The value, its warnings said; raises dfc.Error with all mistakes.
template <class T>
T orRaise(Result<T> result) {
  if (result.ok()) {
    warnOf(result.warnings());
  }
  return std::move(result).orThrow();
}

} // namespace dfc::python
