// Plain objects of Python: dataclasses of the package's file plain.py, made from C++.
#pragma once

#include "ir/graph/graph_class.h"
#include "tools/python/module/arguments.h"

#include <nanobind/nanobind.h>

#include <vector>

namespace dfc::python {

/// A class of plain.py.
inline nanobind::object plain(const char* name) { return nanobind::module_::import_("dfc.plain").attr(name); }
inline nanobind::object specOf(const TensorType& type) {
  return plain("TensorSpec")(tupleOf(type.shape), type.element);
}
/// TensorSpec by name.
inline nanobind::dict specsOf(const std::vector<NamedType>& rows) {
  nanobind::dict specs;
  for (const NamedType& row : rows) {
    specs[row.name.c_str()] = specOf(row.type);
  }
  return specs;
}

} // namespace dfc::python
