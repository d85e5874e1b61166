// The walk over Python's frames. Frames of the package itself are passed over: a composite that is written in
// Python is said to be written where it is called, like one of C++.
#include "tools/python/module/place.h"

#include <dlfcn.h>
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace nb = nanobind;

namespace dfc::python {
namespace {

// The folder of this module, with its last slash: Python files of the package lie there.
const std::string& packageFolder() {
  static const std::string folder = [] {
    Dl_info info{};
    const bool known = dladdr(reinterpret_cast<void*>(&pythonPlace), &info) != 0 && info.dli_fname != nullptr;
    const std::string_view file = known ? info.dli_fname : "";
    return std::string(file.substr(0, file.rfind('/') + 1));
  }();
  return folder;
}

nb::object codeOf(PyFrameObject* frame) {
  return nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
}

std::string_view fileOf(const nb::object& code) {
  Py_ssize_t length = 0;
  PyObject* name = reinterpret_cast<PyCodeObject*>(code.ptr())->co_filename;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) {
    PyErr_Clear(); // a file name that is no UTF-8
    return "?";
  }
  return {text, static_cast<size_t>(length)};
}

bool isOurs(std::string_view file) { return !packageFolder().empty() && file.starts_with(packageFolder()); }

SourceLocation placeIn(PyFrameObject* frame, const nb::object& code) {
  SourceLocation place{std::string(fileOf(code)), 0, 0};
  int line = PyFrame_GetLineNumber(frame), column = -1;
#if PY_VERSION_HEX >= 0x030B0000
  int lastLine = 0, lastColumn = 0;
  PyCode_Addr2Location(reinterpret_cast<PyCodeObject*>(code.ptr()), PyFrame_GetLasti(frame), &line, &column,
                       &lastLine, &lastColumn);
#endif
  place.line = line > 0 ? static_cast<uint32_t>(line) : 0;
  place.column = column >= 0 ? static_cast<uint32_t>(column) + 1 : 0;
  return place;
}

} // namespace

SourceLocation pythonPlace() {
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame.is_valid()) {
    auto* raw = reinterpret_cast<PyFrameObject*>(frame.ptr());
    const nb::object code = codeOf(raw);
    if (!isOurs(fileOf(code))) {
      return placeIn(raw, code);
    }
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(raw)));
  }
  return {};
}

} // namespace dfc::python
