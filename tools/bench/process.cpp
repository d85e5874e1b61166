#include "tools/bench/process.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace dfc::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double graceSeconds = 10;

/// Two file descriptors, closed by the destructor.
class Ends {
 public:
  Ends() = default;
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    close(0);
    close(1);
  }
  void close(size_t end) {
    if (ends_[end] >= 0) {
      ::close(ends_[end]);
      ends_[end] = -1;
    }
  }

 protected:
  std::array<int, 2> ends_{-1, -1};
};

/// A pipe: its writing end goes to the child.
class Pipe : public Ends {
 public:
  Pipe() { DFC_ASSERT(::pipe2(ends_.data(), O_CLOEXEC) == 0, std::strerror(errno)); }
  int reading() const { return ends_[0]; }
  int writing() const { return ends_[1]; }
  /// Appends the available bytes; closes the pipe at its end.
  void readInto(std::string& text) {
    std::array<char, 4096> buffer;
    const ssize_t count = ::read(ends_[0], buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      close(0);
    }
  }
};

/// Two connected sockets. Unlike a pipe, a write raises no SIGPIPE when the other end is closed.
class Conversation : public Ends {
 public:
  Conversation() {
    DFC_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0, std::strerror(errno));
  }
  int childEnd() const { return ends_[1]; }
  void say(const std::string& text) {
    if (::send(ends_[0], text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
      close(0); // the child has closed its end
    }
  }
};

class Child final : public RunningProcess {
 public:
  Child(double limitSeconds) : end_(Clock::now() + seconds(limitSeconds)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() override {
    if (pid_ > 0 && !hasEnded_) {
      end_ = Clock::now();
      finish();
    }
  }

  /// Returns 0, or the error number.
  int start(std::vector<std::string> words) {
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
      pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in_.childEnd(), 0);
    posix_spawn_file_actions_adddup2(&actions, out_.writing(), 1);
    posix_spawn_file_actions_adddup2(&actions, err_.writing(), 2);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, 0); // a process group of its own, to signal its children too
    const int failure = ::posix_spawnp(&pid_, pointers[0], &actions, &attributes, pointers.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    in_.close(1);
    out_.close(1);
    err_.close(1);
    pid_ = failure == 0 ? pid_ : 0;
    return failure;
  }

  void say(const std::string& line) override { in_.say(line + '\n'); }

  bool awaitLine(std::string_view line) override {
    end_ += Clock::now() - waited_; // time between two calls does not count
    const bool came = listenFor(line);
    waited_ = Clock::now();
    return came;
  }

  ProcessOutcome finish() override {
    in_.close(0);
    while (!ended()) {
      listen(100);
      signalWhenLate();
    }
    // The rest of its output. The loop is bounded: a grandchild that lives on may hold the pipes open for
    // ever.
    for (int i = 0; i < 1000 && listen(0); ++i) {
    }
    return std::move(outcome_);
  }

 private:
  bool listenFor(std::string_view line) {
    while (true) {
      for (size_t end = 0; (end = outcome_.out.find('\n', heard_)) != std::string::npos;) {
        const bool isIt = std::string_view(outcome_.out).substr(heard_, end - heard_) == line;
        heard_ = end + 1;
        if (isIt) {
          return true;
        }
      }
      const bool last = ended();
      const bool more = listen(last ? 0 : 100);
      if (last && (!more || Clock::now() >= end_)) { // a grandchild may go on writing
        return false;
      }
      signalWhenLate();
    }
  }

  static Clock::duration seconds(double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  }

  /// Whether something was read within `milliseconds`.
  bool listen(int milliseconds) {
    std::array<pollfd, 2> polled{pollfd{out_.reading(), POLLIN, 0}, pollfd{err_.reading(), POLLIN, 0}};
    if (::poll(polled.data(), polled.size(), milliseconds) <= 0) {
      return false;
    }
    if (polled[0].revents != 0) {
      out_.readInto(outcome_.out);
    }
    if (polled[1].revents != 0) {
      err_.readInto(outcome_.err);
    }
    return true;
  }

  bool ended() {
    int status = 0;
    if (!hasEnded_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      outcome_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      hasEnded_ = true;
    }
    return hasEnded_;
  }

  void signalWhenLate() {
    if (hasEnded_ || Clock::now() < end_) {
      return;
    }
    ::kill(-pid_, outcome_.timedOut ? SIGKILL : SIGTERM);
    outcome_.timedOut = true;
    end_ = Clock::now() + seconds(graceSeconds);
  }

  Conversation in_;
  Pipe out_, err_;
  pid_t pid_ = 0;
  bool hasEnded_ = false;
  size_t heard_ = 0;                              // bytes of its output searched for lines
  Clock::time_point end_, waited_ = Clock::now(); // the end of the last awaitLine()
  ProcessOutcome outcome_;
};

} // namespace

Result<std::unique_ptr<RunningProcess>> RunningProcess::start(const std::vector<std::string>& words,
                                                              double limitSeconds) {
  auto child = std::make_unique<Child>(limitSeconds);
  if (const int failure = child->start(words); failure != 0) {
    return errorWithoutPlace(fmt::format("'{}' cannot be started: {}", words[0], std::strerror(failure)),
                             "name another program with --python");
  }
  return std::unique_ptr<RunningProcess>(std::move(child));
}

Result<ProcessOutcome> runProcess(const std::vector<std::string>& words, double limitSeconds) {
  auto process = RunningProcess::start(words, limitSeconds);
  if (!process) {
    return process.errors();
  }
  return (*process)->finish();
}

} // namespace dfc::bench
