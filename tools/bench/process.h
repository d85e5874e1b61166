// A program run to its end or to a time limit, with its output read; before that, lines may be exchanged with
// it.
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

/// A running program. Its time counts only while it is awaited. At its limit its process group gets SIGTERM,
/// and SIGKILL ten seconds later; the same when this object is destroyed before finish().
class RunningProcess {
 public:
  /// Starts `words[0]`, looked up in PATH, with the others as arguments. Error: it cannot be started.
  static Result<std::unique_ptr<RunningProcess>> start(const std::vector<std::string>& words,
                                                       double limitSeconds);
  virtual ~RunningProcess() = default;

  /// Writes a line to its standard input; lost where the program does not read.
  virtual void say(const std::string& line) = 0;
  /// Waits until it writes this line, after the line awaited before. False: it has ended without it.
  virtual bool awaitLine(std::string_view line) = 0;
  /// Closes its standard input, and waits for its end. To be called once.
  virtual ProcessOutcome finish() = 0;
};

/// Runs a program to its end, with an empty standard input.
Result<ProcessOutcome> runProcess(const std::vector<std::string>& words, double limitSeconds);

} // namespace dfc::bench
