// Diagnostics become objects of Python with the line that they are about, which `linecache` knows also of
// cells of a notebook.
#include "tools/python/module/errors.h"

#include "ir/graph/custom_function.h"
#include "ir/graph/literal.h"
#include "runtime/errors.h"

#include <nanobind/stl/string.h>

#include <exception>
#include <string>

namespace nb = nanobind;

namespace dfc::python {
namespace {

nb::object ours(const char* name) { return nb::module_::import_("dfc.errors").attr(name); }

// Code points in the first `bytes` bytes.
uint32_t lettersIn(const std::string& text, size_t bytes) {
  uint32_t letters = 0;
  for (size_t i = 0; i < std::min(bytes, text.size()); ++i) {
    letters += (static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U ? 1 : 0;
  }
  return letters;
}

// With the line of the Python file, where Python has it.
Diagnostic withLine(Diagnostic diagnostic) {
  SourceLocation& where = diagnostic.where;
  if (!diagnostic.lineText.empty() || where.file.empty() || where.line == 0) {
    return diagnostic;
  }
  const nb::object line = nb::module_::import_("linecache").attr("getline")(where.file, where.line);
  std::string text = nb::cast<std::string>(line.attr("rstrip")());
  if (!text.empty() && where.column > 0) {
    where.column = lettersIn(text, where.column - 1) + 1;
  }
  diagnostic.lineText = std::move(text);
  return diagnostic;
}

nb::object pythonOf(const Diagnostic& diagnostic) {
  return ours("Diagnostic")(diagnostic.severity == Severity::Error ? "error" : "warning", diagnostic.message,
                            diagnostic.hint, diagnostic.where.file, diagnostic.where.line,
                            diagnostic.where.column, diagnostic.lineText, diagnostic.note);
}

std::string withoutLastNewline(std::string text) {
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

void raise(const char* type, const Diagnostics& diagnostics) {
  nb::list rows;
  Diagnostics whole;
  for (const Diagnostic& diagnostic : diagnostics) {
    whole.push_back(withLine(diagnostic));
    rows.append(pythonOf(whole.back()));
  }
  const nb::object error = ours(type)(withoutLastNewline(render(whole)), rows);
  PyErr_SetObject(reinterpret_cast<PyObject*>(error.type().ptr()), error.ptr());
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const NotFiniteError& error) {
    raise("NotFiniteError", error.diagnostics());
  } catch (const CustomError& error) {
    raise("CustomError", error.diagnostics());
  } catch (const Error& error) {
    raise("Error", error.diagnostics());
  } catch (const MachineError& error) {
    PyErr_SetString(ours("MachineError").ptr(), error.what());
  }
}

} // namespace

void warnOf(const Diagnostics& warnings) {
  for (const Diagnostic& warning : warnings) {
    const Diagnostic whole = withLine(warning);
    const std::string text = withoutLastNewline(render(whole));
    if (PyErr_WarnEx(ours("PlanWarning").ptr(), text.c_str(), 1) != 0) {
      throw nb::python_error();
    }
  }
}

void bindErrors(nb::module_& /*module*/) { nb::register_exception_translator(translate); }

} // namespace dfc::python
