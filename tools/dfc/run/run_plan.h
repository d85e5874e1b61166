// The work of `dfc run`: from arguments to results.
#pragma once

#include "tools/dfc/planning.h"
#include "tools/dfc/run/backend_choice.h"

#include <optional>

namespace dfc::tool {

struct RunArguments {
  std::string source;
  PlanOptions plan;
  int64_t steps = 0, epochs = 0; ///< 0: not given
  std::vector<std::string> feeds, fetches, predictions, customLibraries;
  BackendArguments backends;
  std::optional<uint64_t> seed;
  std::string state, saveState, trace, dataFolder;
  std::string rename; ///< file of rules for the names of --state
  bool partial = false;
  std::string evalGraph, checkpoint, bestBy, log, curve, resume;
  std::vector<std::string> evalFeeds;
  int64_t evalEvery = 0, every = 0; ///< 0: not given
  bool largestIsBest = false;
  double timeout = 0;
  bool checkFinite = false, anyIndices = false;
};

Exit runVerb(const RunArguments& arguments, Console& console);

} // namespace dfc::tool
