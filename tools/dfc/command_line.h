// The command line as a whole: its verbs, its help, and what it says to words that it does not know.
#pragma once

#include "tools/dfc/console.h"

namespace dfc::tool {

/// Whether `--json` is among the words; asked before parsing, so that errors of parsing are JSON too.
bool asksForJson(const std::vector<std::string>& words);

/// Parses the words (without the program's name) and runs the verb. Throws what the machine or a bug throws.
Exit runProgram(const std::vector<std::string>& words, Console& console);

} // namespace dfc::tool
