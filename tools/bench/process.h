// A program run to its end, or to a time limit, with both of its streams read; spoken to by the line before
// that, if wished.
#pragma once

#include "ir/base/diagnostic.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::bench {

struct ProcessOutcome {
  int status = 0; ///< exit status; 128 + signal where one ended it
  bool timedOut = false;
  std::string out, err;
};

/// A program under way. Its time runs while it is waited for. At its limit it and what it has started in its
/// process group are asked to end, and ended ten seconds later; so they are when this object goes before
/// finish().
class RunningProcess {
 public:
  /// Starts `words[0]`, looked up in PATH, with the others as arguments. Error: it cannot be started.
  static Result<std::unique_ptr<RunningProcess>> start(const std::vector<std::string>& words,
                                                       double limitSeconds);
  virtual ~RunningProcess() = default;

  /// Writes a line to its standard input; lost where it does not read.
  virtual void say(const std::string& line) = 0;
  /// Waits for it to write this line, behind the one that was awaited before. False: it has ended without.
  virtual bool awaitLine(std::string_view line) = 0;
  /// Ends its standard input, and waits for its end. Once only.
  virtual ProcessOutcome finish() = 0;
};

/// A program run to its end, with nothing to read.
Result<ProcessOutcome> runProcess(const std::vector<std::string>& words, double limitSeconds);

} // namespace dfc::bench
