// What `dfc run` says of values that are not finite: a training that has gone wrong would else go on, and be
// saved, in silence.
#pragma once

#include "ir/graph/literal.h"

#include <string>

namespace dfc::tool {

/// Looks for the first step with a fetch that is not finite.
class FiniteWatch {
 public:
  /// `step` counts from 1. False for the first results that are not all finite; true afterwards.
  bool add(const NamedLiterals& results, int64_t step);
  /// After the first false.
  const std::string& warning() const { return warning_; }
  /// The fetch that was not finite first.
  const std::string& fetch() const { return fetch_; }

 private:
  std::string fetch_;
  std::string warning_;
};

/// A warning that names the parameters that are not finite and are saved in `file`; empty where all are.
std::string stateWarning(const NamedLiterals& state, const std::string& file);

/// Whether an element of a parameter is NaN.
bool holdsNan(const NamedLiterals& state);

} // namespace dfc::tool
