// Methods of Tensor that are functions of the package: NumPy's forms, which are written in Python.
#pragma once

#include "tools/python/module/values.h"

namespace dfc::python {

void bindPackageMethods(nanobind::class_<Value>& tensor);

} // namespace dfc::python
