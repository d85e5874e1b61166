// See arguments.h.
#include "samples/data/arguments.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <cstdlib>

namespace dfc::lesson {

Arguments::Arguments(const std::string& what) : program_(std::make_unique<CLI::App>(what)) {}
Arguments::~Arguments() = default;

Arguments& Arguments::number(const std::string& flag, int64_t& value, int64_t least, int64_t most,
                             const std::string& help) {
  program_->add_option(flag, value, help)
      ->type_name("N")
      ->check(CLI::Range(least, most))
      ->capture_default_str();
  return *this;
}

Arguments& Arguments::number(const std::string& flag, std::optional<int64_t>& value, int64_t least,
                             int64_t most, const std::string& help) {
  program_->add_option(flag, value, help)->type_name("N")->check(CLI::Range(least, most));
  return *this;
}

Arguments& Arguments::real(const std::string& flag, std::optional<double>& value, double least, double most,
                           const std::string& help) {
  program_->add_option(flag, value, help)->type_name("X")->check(CLI::Range(least, most));
  return *this;
}

Arguments& Arguments::real(const std::string& flag, double& value, double least, double most,
                           const std::string& help) {
  program_->add_option(flag, value, help)
      ->type_name("X")
      ->check(CLI::Range(least, most))
      ->capture_default_str();
  return *this;
}

Arguments& Arguments::choice(const std::string& flag, std::string& value,
                             const std::vector<std::string>& words, const std::string& help) {
  program_->add_option(flag, value, help)
      ->type_name(CLI::detail::join(words, "|"))
      ->check(CLI::IsMember(words).description(""))
      ->capture_default_str();
  return *this;
}

Arguments& Arguments::text(const std::string& flag, std::string& value, const std::string& kind,
                           const std::string& help) {
  program_->add_option(flag, value, help)->type_name(kind)->capture_default_str();
  return *this;
}

Arguments& Arguments::folder(const std::string& flag, std::string& value, const std::string& help) {
  return text(flag, value, "FOLDER", help);
}

void Arguments::parse(int count, char** words) {
  try {
    program_->parse(count, words);
  } catch (const CLI::CallForHelp&) {
    std::fputs(program_->help().c_str(), stdout);
    std::exit(0);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "error: %s\n  hint: --help lists what there is\n", error.what());
    std::exit(1);
  }
}

} // namespace dfc::lesson
