#include "tools/dfc/command_line.h"

#include "ir/base/atomic_file.h"
#include "runtime/errors.h"
#include "tools/dfc/all_errors.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <new>

namespace dfc::tool {
namespace {

/// "dfc run", or "dfc-bench" for a program without verbs.
std::string commandName(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name()
                                      : fmt::format("{} {}", verb.get_parent()->get_name(), verb.get_name());
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

bool isAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "-o", "-m": of one letter.
bool isShortFlag(const std::string& word) {
  return word.size() == 2 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

std::vector<std::string> shortFlagNames(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

/// A flag of the words that the verb does not have, with the nearest that it has. "-machine" is taken apart
/// as "-m achine" by CLI11, and hardly meant so.
std::vector<Diagnostic> unknownFlags(const CLI::App& verb, const std::vector<std::string>& words) {
  const auto known = flagNames(verb), letters = shortFlagNames(verb);
  std::vector<Diagnostic> errors;
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    const bool oneDashLess = !flag.starts_with("--") && isAmong(known, "-" + flag);
    if (oneDashLess || (flag.starts_with("--") && flag.size() > 2 && !isAmong(known, flag)) ||
        (isShortFlag(flag) && !isAmong(letters, flag))) {
      errors.push_back(unknownName(fmt::format("option of {}", commandName(verb)), flag, known));
    }
  }
  return errors;
}

/// In the order in which they were given, where CLI11 turns it round.
std::string unexpectedText(const CLI::App& verb) {
  const auto words = verb.remaining();
  return fmt::format("the following argument{} not expected: {}", words.size() == 1 ? " was" : "s were",
                     fmt::join(words, " "));
}

/// Options and arguments that were given as nothing: `-o ""`, which CLI11 takes for as good a word as any.
std::vector<Diagnostic> emptyValues(const CLI::App& verb) {
  std::vector<Diagnostic> errors;
  for (const CLI::Option* option : verb.get_options()) {
    const auto& given = option->results();
    if (option->get_items_expected_max() > 0 &&
        std::any_of(given.begin(), given.end(), [](const auto& word) { return word.empty(); })) {
      errors.push_back(errorWithoutPlace(fmt::format("{} is empty", option->get_name()),
                                         fmt::format("see {} --help", commandName(verb))));
    }
  }
  return errors;
}

/// What a missing option or argument is for, from the help; "" where the error is another.
std::string purposeOfMissing(const CLI::ParseError& error, const CLI::App& verb) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) {
    return "";
  }
  for (const CLI::Option* option : verb.get_options()) {
    if (std::string_view(error.what()).starts_with(option->get_name() + " ")) {
      const std::string type = option->get_positional() ? "" : " " + option->get_type_name();
      return fmt::format("{}{}: {}; ", option->get_name(), type, option->get_description());
    }
  }
  return "";
}

/// CLI11's own words for what is left: missing arguments, values that are no numbers, too many words.
Diagnostic parseError(const CLI::ParseError& error, const CLI::App& verb) {
  const bool tooMany = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !verb.remaining().empty();
  std::string message = tooMany ? unexpectedText(verb) : error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  // CLI11 begins a sentence in capitals; an option's own name keeps them.
  if (message.size() > 1 && std::islower(static_cast<unsigned char>(message[1])) != 0) {
    message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  }
  return errorWithoutPlace(message,
                           fmt::format("{}see {} --help", purposeOfMissing(error, verb), commandName(verb)));
}

} // namespace

bool asksForJson(const std::vector<std::string>& words) {
  return std::find(words.begin(), words.end(), "--json") != words.end() && !asksForHelp(words);
}

bool asksForHelp(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word == "--help" || word == "-h"; });
}

Exit help(const std::string& text, Console& console) {
  console.print(text);
  return console.finish("{}");
}

void addJsonFlag(CLI::App& app) {
  app.add_flag_callback(
      "--json", [] {}, "machine-readable: one JSON object on stdout, errors as one on stderr");
}

Diagnostics parseWords(CLI::App& program, const CLI::App& verb, const std::vector<std::string>& words) {
  try {
    program.parse(std::vector<std::string>(words.rbegin(), words.rend())); // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    auto errors = unknownFlags(verb, words);
    if (errors.empty()) {
      errors.push_back(parseError(error, verb));
    }
    return errors;
  }
  return emptyValues(verb);
}

int runMain(int count, char** argv, const Program& program) {
  std::signal(SIGXFSZ,
              SIG_IGN); // a file beyond the user's limit is an error of its writing, as a full disk is
  const std::vector<std::string> words(argv + 1, argv + count);
  Console console(asksForJson(words), stdout, stderr);
  Exit exit = Exit::Fine;
  try {
    exit = program(words, console);
  } catch (const Error& mistake) {
    exit = console.fail(Exit::UserError, mistake.diagnostics());
  } catch (const MachineError& failure) {
    exit = console.fail(Exit::MachineFailure, {errorWithoutPlace(failure.what())});
  } catch (const NoMemoryForFile& failure) {
    exit =
        console.fail(Exit::MachineFailure, {{Severity::Error,
                                             {failure.file()},
                                             "this host has too little memory for the contents of this file",
                                             "close other programs, or use smaller batches"}});
  } catch (const std::bad_alloc&) {
    exit = console.fail(Exit::MachineFailure,
                        {errorWithoutPlace("this host has too little memory for that",
                                           "close other programs, or use smaller batches")});
  } catch (const std::exception& bug) {
    exit = console.fail(Exit::Bug, {errorWithoutPlace(std::string("a bug in dfc: ") + bug.what(),
                                                      "please report it with the files that show it")});
  }
  return static_cast<int>(exit);
}

} // namespace dfc::tool
