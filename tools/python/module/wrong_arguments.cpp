// nanobind's functions carry a pointer to the C function that calls them, of few kinds. Each is put behind
// one of ours, which looks at the exception of a call that failed.
#include "tools/python/module/wrong_arguments.h"

#include "ir/base/assert.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace nb = nanobind;

namespace dfc::python {
namespace {

std::array<vectorcallfunc, 12> calls{};

/// Whether the exception is nanobind's word for arguments that do not fit.
bool isOfArguments(nb::handle exception) {
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  const char* letters = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  const std::string_view said = letters != nullptr ? letters : "";
  return said == "std::bad_cast" || said.find("(): incompatible function arguments.") != said.npos;
}

nb::object explained(nb::handle function, PyObject* const* given, size_t count, PyObject* names) {
  nb::list positional;
  for (size_t i = 0; i < count; ++i) {
    positional.append(nb::handle(given[i]));
  }
  nb::dict named;
  for (size_t i = 0; names != nullptr && i < nb::len(nb::handle(names)); ++i) {
    named[nb::handle(names)[i]] = nb::handle(given[count + i]);
  }
  return nb::module_::import_("dfc.wrong_arguments").attr("explained")(function, positional, named);
}

/// In place of the exception that is set, where it is of the arguments.
void explain(nb::handle function, PyObject* const* given, size_t flags, PyObject* names) {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0 && PyErr_ExceptionMatches(PyExc_RuntimeError) == 0) {
    return;
  }
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value != nullptr && isOfArguments(value)) {
    constexpr size_t count = 0xffff; // above are flags, of CPython's and of nanobind's own
    try {
      const nb::object text = explained(function, given, flags & count, names);
      PyErr_SetObject(PyExc_TypeError, text.ptr());
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(trace);
      return;
    } catch (nb::python_error&) { // nanobind's text is better than none
      PyErr_Clear();
    }
  }
  PyErr_Restore(type, value, trace);
}

template <size_t index>
PyObject* call(PyObject* function, PyObject* const* given, size_t flags, PyObject* names) {
  PyObject* result = calls[index](function, given, flags, names);
  if (result == nullptr) {
    explain(function, given, flags, names);
  }
  return result;
}

template <size_t... index>
constexpr std::array<vectorcallfunc, sizeof...(index)> explaining(std::index_sequence<index...> /*all*/) {
  return {&call<index>...};
}

void putBehind(nb::handle function) {
  constexpr auto ours = explaining(std::make_index_sequence<calls.size()>());
  const Py_ssize_t offset = Py_TYPE(function.ptr())->tp_vectorcall_offset;
  vectorcallfunc now = nullptr;
  std::memcpy(&now, reinterpret_cast<char*>(function.ptr()) + offset, sizeof now);
  if (std::find(ours.begin(), ours.end(), now) != ours.end()) {
    return; // bound by two names
  }
  auto* const kind = std::find_if(calls.begin(), calls.end(),
                                  [&](vectorcallfunc other) { return other == now || other == nullptr; });
  DFC_ASSERT(kind != calls.end(), "nanobind has few kinds of calls");
  *kind = now;
  const vectorcallfunc then = ours[static_cast<size_t>(kind - calls.begin())];
  std::memcpy(reinterpret_cast<char*>(function.ptr()) + offset, &then, sizeof then);
}

bool isOurs(nb::handle object) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  return type == "nanobind.nb_func" || type == "nanobind.nb_method";
}

} // namespace

void explainWrongArguments(nb::module_& module) {
  const auto putAll = [](nb::handle scope) {
    for (const nb::handle object : nb::list(scope.attr("__dict__").attr("values")())) {
      if (isOurs(object)) {
        putBehind(object);
      }
    }
  };
  putAll(module);
  for (const nb::handle object : nb::list(module.attr("__dict__").attr("values")())) {
    if (PyType_Check(object.ptr())) {
      putAll(object);
    }
  }
}

} // namespace dfc::python
