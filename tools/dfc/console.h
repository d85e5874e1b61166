// What every verb says and how it ends: text for people or one JSON object for programs, errors on stderr,
// the exit status. Only this file writes to the streams.
#pragma once

#include "ir/base/diagnostic.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::tool {

/// Exit status. A bug is ours: it asks to be reported. Interrupted: as a shell tells of SIGINT.
enum class Exit : int { Fine = 0, UserError = 1, MachineFailure = 2, Bug = 3, Interrupted = 130 };

/// Names come from files: control characters in them (but newline and tab) must not reach a terminal, which
/// would obey them. Each becomes its escape, as in \u001b, which JSON that is printed for people may hold
/// too.
std::string visible(std::string_view text);

class Console {
 public:
  Console(bool json, std::FILE* out, std::FILE* err) : json_(json), out_(out), err_(err) {}
  bool json() const { return json_; }
  /// Text for people on stdout, made `visible`; nothing with --json.
  void print(std::string_view text);
  /// A remark that is no error: a visible line on stderr, or an entry of "notes" with --json.
  void note(const std::string& line);
  /// Warnings: rendered on stderr and visible, or entries of "warnings" with --json.
  void warn(const Diagnostics& warnings);
  /// Ends a verb. `object` is a JSON object; with --json it goes to stdout with "status": "ok" before it and
  /// the notes and warnings after.
  Exit finish(const std::string& object);
  /// Ends a verb in errors: rendered on stderr and visible, or one JSON object there with --json, which has
  /// the notes too.
  Exit fail(Exit status, const Diagnostics& errors);
  std::FILE* errorStream() const { return err_; }

 private:
  void writeOut(std::string_view text); ///< and keeps why it failed
  bool json_;
  std::FILE* out_;
  std::FILE* err_;
  int outError_ = 0; ///< errno of the first failed write of out_
  std::vector<std::string> notes_;
  Diagnostics warnings_;
};

/// "error: no such X 'word'" with "did you mean", and the list of what there is.
Diagnostic unknownName(const std::string& what, const std::string& word,
                       const std::vector<std::string>& known);

} // namespace dfc::tool
