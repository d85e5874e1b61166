#include "tests/tools/run_dfc.h"

#include "runtime/executable_folder.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"

#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sys/wait.h>

extern char** environ;

namespace dfc::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) {
    result.push_back(text.data());
  }
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environmentWith(const std::map<std::string, std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (added.count(text.substr(0, text.find('='))) == 0) {
      all.push_back(text);
    }
  }
  for (const auto& [name, value] : added) {
    all.push_back(name + "=" + value);
  }
  return all;
}

} // namespace

Outcome runDfc(const std::vector<std::string>& words, const std::filesystem::path& folder,
               const std::map<std::string, std::string>& environment, const std::string& program) {
  const Workshop streams;
  std::vector<std::string> arguments = {(executableFolder() / program).string()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  std::vector<std::string> variables = environmentWith(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string out = streams.file("out"), err = streams.file("err");
  posix_spawn_file_actions_addopen(&actions, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t child = 0;
  const int failure = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr, pointers(arguments).data(),
                                  pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  INFO("starting " << arguments[0]);
  REQUIRE(failure == 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), readText(out), readText(err)};
}

Workshop::Workshop() {
  std::string pattern = (std::filesystem::temp_directory_path() / "dfc-test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Workshop::~Workshop() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Workshop::write(const std::string& name, const std::string& text) const {
  std::ofstream out(path_ / name, std::ios::binary);
  out << text;
  REQUIRE(out.flush().good());
  return file(name);
}

std::string machineFile(const std::string& name) {
  return shippedFile("samples/machines/" + name + ".json").string();
}

} // namespace dfc::test
