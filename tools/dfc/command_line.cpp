#include "tools/dfc/command_line.h"

#include "runtime/backend.h"
#include "tools/bench/host_facts.h"
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
Help of a verb: dfc compile --help
Exit status: 0 fine, 1 your error, 2 the machine's failure (out of memory, device lost), 3 a bug in dfc.)";

std::vector<std::string> verbNames(const CLI::App& program) {
  std::vector<std::string> names;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> flagNames(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
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
  if (std::find(names.begin(), names.end(), *first) == names.end()) {
    return unknownName("verb", *first, names);
  }
  return program.get_subcommand(*first);
}

/// A flag of the words that the verb does not have, with the nearest that it has.
std::vector<Diagnostic> unknownFlags(const CLI::App& verb, const std::vector<std::string>& words) {
  const auto known = flagNames(verb);
  std::vector<Diagnostic> errors;
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("--") && flag.size() > 2 &&
        std::find(known.begin(), known.end(), flag) == known.end()) {
      errors.push_back(unknownName(fmt::format("option of dfc {}", verb.get_name()), flag, known));
    }
  }
  return errors;
}

/// Options and arguments that were given as nothing: `-o ""`, which CLI11 takes for as good a word as any.
std::vector<Diagnostic> emptyValues(const CLI::App& verb) {
  std::vector<Diagnostic> errors;
  for (const CLI::Option* option : verb.get_options()) {
    const auto& given = option->results();
    if (option->get_items_expected_max() > 0 &&
        std::any_of(given.begin(), given.end(), [](const auto& word) { return word.empty(); })) {
      errors.push_back(errorWithoutPlace(fmt::format("{} is empty", option->get_name()),
                                         fmt::format("see dfc {} --help", verb.get_name())));
    }
  }
  return errors;
}

/// CLI11's own words for what is left: missing arguments, values that are no numbers, too many words.
Diagnostic parseError(const CLI::ParseError& error, const CLI::App& verb) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  // CLI11 begins a sentence in capitals; an option's own name keeps them.
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return errorWithoutPlace(message, fmt::format("see dfc {} --help", verb.get_name()));
}

bool asksForHelp(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

/// For the help and so that the word is known; `asksForJson` reads it.
void addJsonFlag(CLI::App& app) {
  app.add_flag_callback(
      "--json", [] {}, "machine-readable: one JSON object on stdout, errors as one on stderr");
}

Exit version(Console& console) {
  std::vector<std::string> backends;
  for (const Backend* backend : allBackends()) {
    backends.emplace_back(backend->name());
  }
  const std::string version = bench::sourceVersion();
  console.print(fmt::format("dfc {}\nbackends: {}\n", version, fmt::join(backends, ", ")));
  return console.finish(nlohmann::ordered_json{{"version", version}, {"backends", backends}}.dump());
}

/// Only before a verb: behind one it is that verb's to know.
bool asksForVersion(const std::vector<std::string>& words) {
  const auto first =
      std::find_if(words.begin(), words.end(), [](const auto& word) { return word != "--json"; });
  return first != words.end() && *first == "--version";
}

Exit help(const std::string& text, Console& console) {
  console.print(text);
  return console.finish("{}");
}

} // namespace

bool asksForJson(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end() && !asksForHelp(words);
}

Exit runProgram(const std::vector<std::string>& words, Console& console) {
  CLI::App program("dfc: compile a tensor computation for a set of devices, once, and execute the plan",
                   "dfc");
  program.footer(footer);
  program.require_subcommand(0, 1);
  addJsonFlag(program);
  program.add_flag_callback(
      "--version", [] {}, "the version, and the backends in this build"); // read before parsing
  Verbs verbs;
  addCompile(program, verbs);
  addRun(program, verbs);
  addView(program, verbs);
  addMachine(program, verbs);
  addSimulate(program, verbs);
  addCalibrate(program, verbs);
  addBench(program, verbs);
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
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend())); // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    auto errors = unknownFlags(**verb, words);
    if (errors.empty()) {
      errors.push_back(parseError(error, **verb));
    }
    return console.fail(Exit::UserError, errors);
  }
  if (const auto errors = emptyValues(**verb); !errors.empty()) {
    return console.fail(Exit::UserError, errors);
  }
  return verbs.at(*verb)(console);
}

} // namespace dfc::tool
