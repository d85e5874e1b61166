// Every example of every --help, run to the letter by a shell in a scratch copy of the samples.
#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/tools/run_dfc.h"

#include <cstdlib>
#include <sstream>

using namespace dfc::test;

namespace {

/// The commands between "Examples:" and the first line that is not indented, continued lines joined.
std::vector<std::string> examplesOf(const std::string& help) {
  std::istringstream lines(help.substr(help.find("Examples:\n") + 10));
  std::vector<std::string> commands;
  bool goesOn = false;
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");) {
    goesOn ? void(commands.back() += "\n" + line) : commands.push_back(line.substr(2));
    goesOn = line.ends_with("\\");
  }
  return commands;
}

bool canRun(const std::string& command) {
  const bool data = command.find("fashion-mnist/") == std::string::npos ||
                    std::filesystem::is_directory("/usr/share/datasets/fashion-mnist");
  const bool drawing =
      command.find("dfc view") == std::string::npos || std::system("dot -V >/dev/null 2>&1") == 0;
  return data && drawing;
}

} // namespace

TEST_CASE("dfc: every example of every help works from the repository root") {
  const std::string bin = dfc::executableFolder().string();
  for (const std::string verb : {"", "compile", "explain", "run", "view", "machine", "simulate", "calibrate",
                                 "schedule", "import", "export", "dfc-bench"}) {
    const Workshop shop;
    std::filesystem::copy(dfc::shippedFile("samples"), shop.path() / "samples",
                          std::filesystem::copy_options::recursive);
    const Outcome help = verb.empty()          ? runDfc({"--help"})
                         : verb == "dfc-bench" ? runDfc({"--help"}, ".", {}, verb)
                                               : runDfc({verb, "--help"});
    const auto examples = examplesOf(help.out);
    CHECK(examples.size() >= 2);
    for (const std::string& example : examples) {
      INFO(example);
      CHECK((example.starts_with("dfc ") || example.starts_with("dfc-bench ")));
      if (!canRun(example)) {
        WARN("skipped: an example, as its package is not installed\n" << example);
        continue;
      }
      const std::string command =
          "cd '" + shop.path().string() + "' && export PATH='" + bin + "':\"$PATH\"\n" + example + "\n";
      shop.write("example.sh", command);
      CHECK(std::system(("sh -e '" + shop.file("example.sh") + "' >/dev/null").c_str()) == 0);
    }
  }
}
