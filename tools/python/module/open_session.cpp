#include "tools/python/module/open_session.h"

#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/errors.h"

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// Closed without the interpreter's lock: steps under way may call functions of Python.
std::shared_ptr<Session> shared(std::unique_ptr<Session> session) {
  return {session.release(), [](Session* closed) {
            if (PyGILState_Check() != 0) {
              const nb::gil_scoped_release unlocked;
              delete closed;
            } else {
              delete closed;
            }
          }};
}

} // namespace

OpenSession::OpenSession(Plan plan, const SessionOptions& options, const OpenSession* state)
    : plan_(std::move(plan)) {
  const std::shared_ptr<Session> other = state != nullptr ? state->session() : nullptr;
  auto opened = [&] {
    const nb::gil_scoped_release unlocked;
    return other ? Session::open(plan_.executable, options, *other)
                 : Session::open(plan_.executable, options);
  }();
  session_ = shared(orRaise(std::move(opened)));
  for (const auto& [name, type] : session_->inputs()) {
    inputTypes_.emplace(name, type.element);
  }
  for (const auto& [name, type] : inputTypes_) {
    nb::str key(name.c_str(), name.size());
    PyObject* interned = key.release().ptr();
    PyUnicode_InternInPlace(&interned);
    inputs_.push_back({nb::steal(interned), name, type});
  }
  for (const Session::Parameter& parameter : session_->parameters()) {
    parameters_.emplace(parameter.name, parameter.type.element);
  }
}

std::shared_ptr<Session> OpenSession::session() const {
  if (session_ == nullptr) {
    throw nb::value_error("the session is closed");
  }
  return session_;
}

NamedLiterals OpenSession::feeds(nb::handle feeds) const {
  if (NamedLiterals named; PyDict_CheckExact(feeds.ptr()) && addInputs(named, feeds)) {
    return named;
  }
  return literals(feeds, inputTypes_);
}

/// False where the dictionary has not exactly the inputs; each step without a mistake has.
bool OpenSession::addInputs(NamedLiterals& named, nb::handle dict) const {
  if (static_cast<size_t>(PyDict_Size(dict.ptr())) != inputs_.size()) {
    return false;
  }
  for (const auto& [key, name, type] : inputs_) {
    PyObject* array = PyDict_GetItem(dict.ptr(), key.ptr());
    if (array == nullptr) {
      return false;
    }
    named.emplace_hint(named.end(), name, literalOf(array, Sharing::Shared, type, name.c_str()));
  }
  return true;
}

NamedLiterals OpenSession::literals(nb::handle arrays, const Types& types) {
  NamedLiterals named;
  if (arrays.is_none()) {
    return named;
  }
  if (nb::isinstance<nb::dict>(arrays)) {
    for (const auto& [name, array] : nb::borrow<nb::dict>(arrays)) {
      add(named, nb::cast<std::string>(name), array, types);
    }
    return named;
  }
  for (const nb::handle name : arrays) {
    add(named, nb::cast<std::string>(name), arrays[name], types);
  }
  return named;
}

void OpenSession::add(NamedLiterals& named, std::string name, nb::handle array, const Types& types) {
  const auto type = types.find(name);
  const auto wanted = type != types.end() ? std::optional(type->second) : std::nullopt;
  Literal literal = literalOf(array, Sharing::Shared, wanted, name.c_str());
  named.emplace(std::move(name), std::move(literal));
}

} // namespace dfc::python
