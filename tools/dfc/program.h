// The program dfc: its verbs, its help, and what it says to words that it does not know.
#pragma once

#include "tools/dfc/console.h"

namespace dfc::tool {

/// Parses the words (without the program's name) and runs the verb. Throws what the machine or a bug throws.
Exit runProgram(const std::vector<std::string>& words, Console& console);

} // namespace dfc::tool
