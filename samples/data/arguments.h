// The command line of a lesson: its few flags, `--help`, and an error for everything else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace dfc::lesson {

class Arguments {
 public:
  /// `what` the lesson shows, in a sentence: the first line of its help.
  explicit Arguments(const std::string& what);
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments();

  /// `value` keeps what it holds where the flag is not given. Flags as "--epochs".
  Arguments& number(const std::string& flag, int64_t& value, int64_t least, int64_t most,
                    const std::string& help);
  /// Empty where the flag is not given: the help says what it is then.
  Arguments& number(const std::string& flag, std::optional<int64_t>& value, int64_t least, int64_t most,
                    const std::string& help);
  /// The same of a real number.
  Arguments& real(const std::string& flag, std::optional<double>& value, double least, double most,
                  const std::string& help);
  Arguments& real(const std::string& flag, double& value, double least, double most, const std::string& help);
  /// One of `words`.
  Arguments& choice(const std::string& flag, std::string& value, const std::vector<std::string>& words,
                    const std::string& help);
  /// Any text, whose kind the help shows as `kind`: "FILE".
  Arguments& text(const std::string& flag, std::string& value, const std::string& kind,
                  const std::string& help);
  Arguments& folder(const std::string& flag, std::string& value, const std::string& help);

  /// Ends the program with status 0 after --help, and with status 1 and a message on an unknown argument or a
  /// value out of range.
  void parse(int count, char** words);

 private:
  std::unique_ptr<CLI::App> program_;
};

} // namespace dfc::lesson
