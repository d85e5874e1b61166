// The verbs of `dfc`, a file each. `add…` gives CLI11 the verb's options and examples and says what to do
// when it is chosen; the doing happens later, in main.cpp.
#pragma once

#include "tools/dfc/console.h"

#include <functional>
#include <map>

namespace CLI {
class App;
}

namespace dfc::tool {

/// Does the work of a verb. Author's mistakes end in Console::fail; machine failures are thrown.
using VerbAction = std::function<Exit(Console&)>;
using Verbs = std::map<const CLI::App*, VerbAction>;

void addCompile(CLI::App& program, Verbs& verbs);
void addImport(CLI::App& program, Verbs& verbs);
void addExport(CLI::App& program, Verbs& verbs);
void addExplain(CLI::App& program, Verbs& verbs);
void addRun(CLI::App& program, Verbs& verbs);
void addView(CLI::App& program, Verbs& verbs);
void addMachine(CLI::App& program, Verbs& verbs);
void addSimulate(CLI::App& program, Verbs& verbs);
void addCalibrate(CLI::App& program, Verbs& verbs);
void addSchedule(CLI::App& program, Verbs& verbs);

} // namespace dfc::tool
