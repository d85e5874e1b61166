#include "tools/python/module/session/open_session.h"

#include "tools/python/module/arrays/arrays.h"
#include "tools/python/module/errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <stdexcept>

#include <pthread.h>

namespace nb = nanobind;

namespace dfc::python {
namespace {

/// How many forks lie between this process and the first one that loaded the module. A session's threads are
/// not copied into a child, which would wait for them for ever.
uint32_t forkCount() {
  static std::atomic<uint32_t> count = 0;
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++count; });
  return registered == 0 ? count.load(std::memory_order_relaxed) : 0;
}

/// Closed without the interpreter's lock: steps under way may call functions of Python. In a child of the
/// process that opened it, it is left as it is.
std::shared_ptr<Session> shared(std::unique_ptr<Session> session) {
  return {session.release(), [forks = forkCount()](Session* closed) {
            if (forks != forkCount()) {
              return;
            }
            if (PyGILState_Check() != 0) {
              const nb::gil_scoped_release unlocked;
              delete closed;
            } else {
              delete closed;
            }
          }};
}

std::vector<std::pair<std::string, nb::object>> namedArrays(nb::handle arrays) {
  std::vector<std::pair<std::string, nb::object>> named;
  for (const nb::handle name : arrays) {
    if (!nb::isinstance<nb::str>(name)) {
      throw nb::type_error(
          fmt::format("arrays go by names, which are texts, not {}", textOf(nb::repr(name))).c_str());
    }
    named.emplace_back(nb::cast<std::string>(name), arrays[name]);
  }
  return named;
}

nb::object interned(const std::string& name) {
  PyObject* key = nb::str(name.c_str(), name.size()).release().ptr();
  PyUnicode_InternInPlace(&key);
  return nb::steal(key);
}

} // namespace

OpenSession::OpenSession(Plan plan, const SessionOptions& options, const OpenSession* state)
    : plan_(std::move(plan)), forks_(forkCount()) {
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
    inputs_.push_back({interned(name), name, type});
  }
  std::set<std::string, std::less<>> fetches;
  for (const auto& row : session_->fetches()) {
    fetches.insert(row.first);
  }
  std::transform(fetches.begin(), fetches.end(), std::back_inserter(fetchKeys_), interned);
  for (const Session::Parameter& parameter : session_->parameters()) {
    parameters_.emplace(parameter.name, parameter.type.element);
  }
}

std::shared_ptr<Session> OpenSession::session() const {
  if (session_ == nullptr) {
    throw nb::value_error("the session is closed");
  }
  if (forks_ != forkCount()) {
    throw std::runtime_error("the session was opened by the process that this one was forked from, which has "
                             "its threads: open a session of the plan here, or start processes by the method "
                             "'spawn' (multiprocessing.set_start_method)");
  }
  return session_;
}

OpenSession::Lent OpenSession::lentFeeds(nb::handle feeds) const {
  Lent lent;
  if (!PyDict_CheckExact(feeds.ptr()) || !lend(lent, feeds)) {
    lent.literals = this->feeds(feeds);
  }
  return lent;
}

NamedLiterals OpenSession::feeds(nb::handle feeds) const {
  NamedLiterals named;
  if (feeds.is_none()) {
    return named;
  }
  if (!nb::hasattr(feeds, "keys")) {
    throw nb::type_error(noMapping(feeds).c_str());
  }
  for (const auto& [name, array] : namedArrays(feeds)) {
    const auto type = inputTypes_.find(name);
    named.emplace(name, type == inputTypes_.end()
                            ? literalOf(array, Sharing::Shared, std::nullopt, name.c_str())
                            : convertedLiteral(array, Sharing::Shared, type->second, "input", name));
  }
  return named;
}

NamedLiterals OpenSession::state(nb::handle state) const {
  NamedLiterals named;
  if (!nb::hasattr(state, "keys")) {
    throw nb::type_error(fmt::format("state is arrays by the names of parameters, as {{'{}': array}}, not {}",
                                     parameters_.empty() ? "w" : parameters_.begin()->first,
                                     textOf(nb::repr(state.type())))
                             .c_str());
  }
  for (const auto& [name, array] : namedArrays(state)) {
    const auto type = parameters_.find(name);
    named.emplace(name, type == parameters_.end()
                            ? literalOf(array, Sharing::Shared, std::nullopt, name.c_str())
                            : convertedLiteral(array, Sharing::Shared, type->second, "parameter", name));
  }
  return named;
}

std::string OpenSession::noMapping(nb::handle feeds) const {
  std::vector<std::string> inputs;
  for (const auto& [name, type] : session()->inputs()) {
    inputs.push_back(fmt::format("'{}' {}", name, toString(type)));
  }
  const std::string example = inputs_.empty() ? "x" : inputs_.front().name;
  return fmt::format("feeds are arrays by the names of inputs, as {{'{}': array}}, not {}; the inputs: {}",
                     example, textOf(nb::repr(feeds.type())), fmt::join(inputs, ", "));
}

/// False where the dictionary has not exactly the inputs; each step without a mistake has.
bool OpenSession::lend(Lent& lent, nb::handle dict) const {
  if (static_cast<size_t>(PyDict_Size(dict.ptr())) != inputs_.size()) {
    return false;
  }
  lent.arrays.reserve(inputs_.size());
  for (const auto& [key, name, type] : inputs_) {
    PyObject* array = PyDict_GetItem(dict.ptr(), key.ptr());
    if (array == nullptr) {
      return false;
    }
    lent.arrays.push_back(nb::borrow(array));
    lent.literals.emplace_hint(lent.literals.end(), name,
                               convertedLiteral(array, Sharing::Lent, type, "input", name));
  }
  return true;
}

} // namespace dfc::python
