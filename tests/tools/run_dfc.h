// Runs the built `dfc` as a user would: words in, exit status and both streams out.
#pragma once

#include "tests/support/catch.h"
#include "tests/support/matchers.h"

#include <filesystem>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace dfc::test {

struct Outcome {
  int status = 0; ///< exit status; 128 + signal where one ended it
  std::string out, err;
};

/// `environment` is added to this process's own. The current folder is `folder`.
Outcome runDfc(const std::vector<std::string>& words, const std::filesystem::path& folder = ".",
               const std::map<std::string, std::string>& environment = {},
               const std::string& program = "dfc");

/// A folder for one test case, removed with it.
class Workshop {
 public:
  Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop();
  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file and gives its path.
  std::string write(const std::string& name, const std::string& text) const;
  Outcome dfc(const std::vector<std::string>& words,
              const std::map<std::string, std::string>& environment = {}) const {
    return runDfc(words, path_, environment);
  }
  /// The same of dfc-bench.
  Outcome bench(const std::vector<std::string>& words,
                const std::map<std::string, std::string>& environment = {}) const {
    return runDfc(words, path_, environment, "dfc-bench");
  }

 private:
  std::filesystem::path path_;
};

/// samples/machines/<name>.json
std::string machineFile(const std::string& name);

} // namespace dfc::test
