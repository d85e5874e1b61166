// A program run to its end, or to a time limit, with both of its streams read.
#pragma once

#include "ir/diagnostic.h"

#include <string>
#include <vector>

namespace dfc::bench {

struct ProcessOutcome {
  int status = 0; ///< exit status; 128 + signal where one ended it
  bool timedOut = false;
  std::string out, err;
};

/// Runs `words[0]`, looked up in PATH, with the others as arguments. At the limit it and what it has started
/// in its process group are asked to end, and ended ten seconds later. Error: it cannot be started.
Result<ProcessOutcome> runProcess(const std::vector<std::string>& words, double limitSeconds);

} // namespace dfc::bench
