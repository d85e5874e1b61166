#include "tools/dfc/graphviz.h"

#include "ir/base/atomic_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>

extern char** environ;

namespace dfc::tool {
namespace {

constexpr uint64_t largestPicture = uint64_t(1) << 31;

/// A folder for the files that pass between us and the child, gone at the end.
class Exchange {
 public:
  Exchange() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfc-view-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange() {
    std::error_code ignored;
    if (!folder_.empty()) {
      std::filesystem::remove_all(folder_, ignored);
    }
  }
  bool made() const { return !folder_.empty(); }
  std::string file(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

/// The child's exit status, or the errno with which it could not be started.
struct Ending {
  int notStarted = 0;
  int status = 0;
  bool late = false; ///< it was ended
};

/// Waits for the child, and ends it after `seconds`.
void await(pid_t child, double seconds, Ending& ending) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  auto pause = std::chrono::microseconds(500);
  for (;;) {
    const pid_t ended = ::waitpid(child, &ending.status, ending.late ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) {
      return;
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      ending.late = true;
      ::kill(child, SIGKILL);
    } else {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(20000));
    }
  }
}

Ending runDot(const Exchange& exchange, const std::string& format, double seconds) {
  std::string arguments[] = {"dot", "-T" + format, "-o", exchange.file("picture"),
                             exchange.file("graph.dot")};
  char* pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                      arguments[3].data(), arguments[4].data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const std::string complaints = exchange.file("complaints");
  ::posix_spawn_file_actions_addopen(&actions, 2, complaints.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  Ending ending;
  ending.notStarted = ::posix_spawnp(&child, "dot", &actions, nullptr, pointers, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (ending.notStarted == 0) {
    await(child, seconds, ending);
  }
  return ending;
}

} // namespace

Result<std::optional<std::string>> renderDot(const std::string& dot, const std::string& format,
                                             double seconds) {
  const Exchange exchange;
  if (!exchange.made()) {
    return errorWithoutPlace(fmt::format("no temporary folder: {}", std::strerror(errno)),
                             "set TMPDIR to a folder");
  }
  if (const Status written = writeFileAtomically(exchange.file("graph.dot"), dot); !written) {
    return written.errors();
  }
  const Ending ending = runDot(exchange, format, seconds);
  if (ending.notStarted != 0) {
    return errorWithoutPlace(
        fmt::format("Graphviz' program dot cannot be started: {}", std::strerror(ending.notStarted)),
        "install it: sudo apt-get install graphviz; or write a .dot file and draw it elsewhere");
  }
  if (ending.late) {
    return std::optional<std::string>();
  }
  if (ending.status != 0) {
    const auto complaints = readTextFile(exchange.file("complaints"), 4096);
    return errorWithoutPlace(fmt::format("Graphviz could not draw this: {}", complaints ? *complaints : ""),
                             "write a .dot file instead and look at it");
  }
  auto picture = readTextFile(exchange.file("picture"), largestPicture);
  if (!picture) {
    return picture.errors();
  }
  return std::optional<std::string>(*std::move(picture));
}

} // namespace dfc::tool
