// What a training is besides its parameters: how many steps it has run, by which order of the rows, and its
// best value so far. Saved with the parameters in one .safetensors file, as texts ("dfc.step", …), so that
// the file is also a state like any other (loadState).
#pragma once

#include "ir/base/visibility.h"
#include "runtime/session.h"

#include <cstdint>
#include <optional>
#include <string>

namespace DFC_PUBLIC dfc {

/// The best value of an evaluation so far.
struct BestValue {
  double value = 0; ///< of the fetch that is watched
  int64_t step = 0; ///< steps that had been run
};

/// Where a training stands. The next step takes batch `step` % `stepsPerEpoch` of epoch `step` /
/// `stepsPerEpoch`.
struct TrainingState {
  int64_t step = 0;                         ///< steps run
  int64_t stepsPerEpoch = 1;                ///< batches of an epoch
  std::optional<uint64_t> shuffleSeed = {}; ///< none: rows in the order of the files
  std::optional<BestValue> best = {};       ///< none: nothing was evaluated, or never with a number
};

/// Saves the session's parameters and the state, whole or not at all. Waits for the steps under way first.
Status saveTraining(Session& session, const TrainingState& state, const std::string& path);
/// The same with parameters of a session's `state()`.
Status saveTraining(const NamedLiterals& parameters, const TrainingState& state, const std::string& path);

/// Sets the session's parameters and gives the state. Errors: those of loadState, a file that holds
/// parameters alone, and one whose parameters have another checksum than was saved with them; then nothing is
/// set.
Result<TrainingState> loadTraining(Session& session, const std::string& path);

} // namespace dfc
