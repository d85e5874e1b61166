#include "tools/dfc/program.h"

#include "runtime/backend.h"
#include "tools/dfc/command_line.h"
#include "tools/dfc/source_version.h"
#include "tools/dfc/verbs.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace dfc::tool {
namespace {

constexpr const char* footer = R"(Examples:
  dfc machine -o here.json                                              # this host as a machine file
  dfc compile samples/02_train_mlp/mlp.dfg -m here.json -o mlp.plan     # a plan
  dfc run mlp.plan --steps 100 --feed images=fashion-mnist/train/images \
      --feed labels=fashion-mnist/train/labels                          # execute it
  dfc view mlp.plan --what=schedule -o mlp.svg                          # look at it
  dfc schedule samples/04_graph_file/tasks.json -m cpu-2gpu             # a schedule of any task graph
Help of a verb: dfc compile --help
Exit status: 0 fine, 1 your error, 2 the machine's failure (out of memory, device lost), 3 a bug in dfc.)";

std::vector<std::string> verbNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

/// The first word that is no option; the end when there is none.
auto verbWord(const std::vector<std::string>& words) {
  return std::find_if(words.begin(), words.end(),
                      [](const std::string& word) { return !word.starts_with("-"); });
}

/// The verb that the first word names; an error that proposes the nearest when there is none.
Result<CLI::App*> verbOf(CLI::App& program, const std::vector<std::string>& words) {
  const auto first = verbWord(words);
  const auto names = verbNames(program);
  if (first == words.end()) {
    return errorWithoutPlace("no verb: what should dfc do?",
                             fmt::format("say one of: {}; or dfc --help", fmt::join(names, ", ")));
  }
  if (*first == "bench") {
    return errorWithoutPlace("benchmarks are a program of their own",
                             "run dfc-bench, with the same words behind it");
  }
  if (std::find(names.begin(), names.end(), *first) == names.end()) {
    return unknownName("verb", *first, names);
  }
  return program.get_subcommand(*first);
}

Exit version(Console& console) {
  std::vector<std::string> backends;
  for (const Backend* backend : allBackends()) {
    backends.emplace_back(backend->name());
  }
  const std::string version = sourceVersion();
  console.print(fmt::format("dfc {}\nbackends: {}\n", version, fmt::join(backends, ", ")));
  return console.finish(nlohmann::ordered_json{{"version", version}, {"backends", backends}}.dump());
}

/// Only before a verb: behind one it is that verb's to know.
bool asksForVersion(const std::vector<std::string>& words) {
  const auto first =
      std::find_if(words.begin(), words.end(), [](const auto& word) { return word != "--json"; });
  return first != words.end() && *first == "--version";
}

/// "dfc help", "dfc help run" as "dfc --help", "dfc run --help".
std::vector<std::string> withHelpAsFlag(std::vector<std::string> words) {
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

} // namespace

Exit runProgram(const std::vector<std::string>& given, Console& console) {
  const std::vector<std::string> words = withHelpAsFlag(given);
  CLI::App program("dfc: compile a tensor computation for a set of devices, once, and execute the plan",
                   "dfc");
  program.footer(footer);
  program.require_subcommand(0, 1);
  addJsonFlag(program);
  program.add_flag_callback(
      "--version", [] {}, "the version, and the backends in this build"); // read before parsing
  Verbs verbs;
  addCompile(program, verbs);
  addImport(program, verbs);
  addExport(program, verbs);
  addExplain(program, verbs);
  addRun(program, verbs);
  addView(program, verbs);
  addMachine(program, verbs);
  addSimulate(program, verbs);
  addCalibrate(program, verbs);
  addSchedule(program, verbs);
  for (const auto& [verb, action] : verbs) {
    addJsonFlag(*program.get_subcommand(verb->get_name()));
  }
  if (asksForVersion(words)) {
    return version(console);
  }
  const auto verb = verbOf(program, words);
  if (asksForHelp(words) && (verb || verbWord(words) == words.end())) {
    return help(verb ? (*verb)->help("dfc") : program.help(), console);
  }
  if (!verb) {
    return console.fail(Exit::UserError, verb.errors());
  }
  if (const auto errors = parseWords(program, **verb, words); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  return verbs.at(*verb)(console);
}

} // namespace dfc::tool
