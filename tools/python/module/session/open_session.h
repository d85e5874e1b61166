// A session as Python holds it: open until it is closed, and as long as calls on it run.
#pragma once

#include "runtime/session.h"
#include "tools/python/module/arguments.h"
#include "tools/python/module/planning/plan.h"

#include <nanobind/nanobind.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dfc::python {

/// A session as long as it is open. Calls keep it alive until they end, whoever closes it meanwhile.
class OpenSession {
 public:
  /// What a step is fed: NumPy's arrays are lent, and kept as long as this lives.
  struct Lent {
    NamedLiterals literals;
    std::vector<nanobind::object> arrays;
  };

  /// `state`: a session whose parameters of the same names are this one's, too; null for none. The
  /// interpreter's lock is released meanwhile.
  OpenSession(Plan plan, const SessionOptions& options, const OpenSession* state);

  const Plan& plan() const { return plan_; }
  /// Raises ValueError once it is closed, RuntimeError in a child that was forked since it was opened.
  std::shared_ptr<Session> session() const;
  void close() {
    keep({});
    session_.reset();
  }
  /// Arrays by the names of inputs or parameters, in their element types (data/convert_elements.h). Raises
  /// TypeError where there are no names.
  NamedLiterals feeds(nanobind::handle feeds) const;
  /// The same for a step that the caller waits for.
  Lent lentFeeds(nanobind::handle feeds) const;
  NamedLiterals state(nanobind::handle state) const;
  /// The fetches' names, sorted, as Python's dictionaries find them soonest.
  const std::vector<nanobind::object>& fetchKeys() const { return fetchKeys_; }
  /// Keeps small results until those of the next step are kept, so that they are freed while it runs. Large
  /// ones would need twice the memory.
  void keep(std::vector<nanobind::object> results) const { results_.swap(results); }
  static constexpr int64_t smallResult = 1 << 16; ///< bytes
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
  bool lend(Lent& lent, nanobind::handle dict) const;
  std::string noMapping(nanobind::handle feeds) const;

  Plan plan_;
  uint32_t forks_; ///< when it was opened
  std::shared_ptr<Session> session_;
  std::vector<Input> inputs_;
  std::vector<nanobind::object> fetchKeys_;
  mutable std::vector<nanobind::object> results_; // guarded by the interpreter's lock
  Types inputTypes_, parameters_;
};

} // namespace dfc::python
