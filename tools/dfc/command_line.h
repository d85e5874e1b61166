// What the programs dfc and dfc-bench share of a command line: parsing with errors that name the nearest
// flag,
// `--json`, help, and the exit status.
#pragma once

#include "tools/dfc/console.h"

#include <functional>

namespace CLI {
class App;
}

namespace dfc::tool {

/// Parses the words (without the program's name) and does the work.
using Program = std::function<Exit(const std::vector<std::string>& words, Console& console)>;

/// What main returns: catches what only a tool may catch. 0 fine, 1 the user's error, 2 the machine's
/// failure, 3 a bug of ours, 130 interrupted.
int runMain(int count, char** argv, const Program& program);

/// Whether `--json` is among the words; asked before parsing, so that errors of parsing are JSON too.
bool asksForJson(const std::vector<std::string>& words);
bool asksForHelp(const std::vector<std::string>& words);

/// For the help and so that the word is known; `asksForJson` reads it.
void addJsonFlag(CLI::App& app);

/// Prints a help text.
Exit help(const std::string& text, Console& console);

/// Parses the words for `verb`, a subcommand of `program` or the program itself. Errors: flags that the verb
/// does not have, with the nearest that it has; empty values; what CLI11 finds.
Diagnostics parseWords(CLI::App& program, const CLI::App& verb, const std::vector<std::string>& words);

} // namespace dfc::tool
