// A session as Python holds it: open until it is closed, and as long as calls on it run.
#pragma once

#include "runtime/session.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/plan.h"

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dfc::python {

/// A session as long as it is open. Calls keep it alive until they end, whoever closes it meanwhile.
class OpenSession {
 public:
  /// `state`: a session whose parameters of the same names are this one's, too; null for none. The
  /// interpreter's lock is released meanwhile.
  OpenSession(Plan plan, const SessionOptions& options, const OpenSession* state);

  const Plan& plan() const { return plan_; }
  /// Raises ValueError once it is closed.
  std::shared_ptr<Session> session() const;
  void close() { session_.reset(); }
  /// Arrays by the names of inputs, in their element types (data/convert_elements.h), and of parameters, of
  /// their element types where they are numbers. Raises TypeError where there are no names.
  NamedLiterals feeds(nanobind::handle feeds) const;
  NamedLiterals state(nanobind::handle state) const;
  /// The element type of each input.
  const std::map<std::string, ElementType, std::less<>>& inputTypes() const { return inputTypes_; }

 private:
  using Types = std::map<std::string, ElementType, std::less<>>;
  /// An input, with its name as Python's dictionaries find it soonest.
  struct Input {
    nanobind::object key;
    std::string name;
    ElementType type;
  };
  bool addInputs(NamedLiterals& named, nanobind::handle dict) const;
  std::string noMapping(nanobind::handle feeds) const;

  Plan plan_;
  std::shared_ptr<Session> session_;
  std::vector<Input> inputs_;
  Types inputTypes_, parameters_;
};

} // namespace dfc::python
