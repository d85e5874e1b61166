// Weights into a session, of a file, of another session or in memory: all of its parameters, or those that
// fit.
#pragma once

#include "ir/base/visibility.h"
#include "runtime/session.h"
#include "runtime/weights/rename_rules.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// How weights are loaded.
struct WeightOptions {
  RenameRules rules = {}; ///< for the names of the values
  /// Whether parameters may be without a value, and values be of no parameter: those that have one name are
  /// set, the others keep their values. So an evaluation reads a training's checkpoint, and a training begins
  /// with another's weights.
  bool partial = false;
};

/// What became of the weights.
struct LoadedWeights {
  size_t set = 0;        ///< parameters that were given their value
  size_t parameters = 0; ///< of the plan
  size_t unused = 0;     ///< values that are of no parameter
};

/// The weights of a file. Nothing is set unless all is well. Errors: a file or its tensors that the rules do
/// not fit; without `partial`, as loadState; with it, a parameter of another type, and one summary where
/// neither half of the plan's parameters nor half of the file's tensors fit, with the nearest names.
Result<LoadedWeights> loadWeights(Session& session, const std::string& path,
                                  const WeightOptions& options = {});
/// The same of values in memory, by name.
Result<LoadedWeights> setWeights(Session& session, const NamedLiterals& values,
                                 const WeightOptions& options = {});
/// The same of another session's parameters, between its steps and those of `to`, whatever the machines, the
/// placements and cuts of their plans: a training on many devices gives an evaluation on one its weights.
/// Copies once; sessions of equal placements may have one set of weights instead (Session::open with another
/// session's state).
Result<LoadedWeights> copyState(Session& from, Session& to, const WeightOptions& options = {});

} // namespace dfc
