// Ctrl-C as a wish: while this object lives, SIGINT, SIGTERM, SIGHUP (the terminal is closed) and SIGPIPE
// (the reader of the output is gone) ask for an end as soon as work can end without losing what was done. A
// second SIGINT or SIGTERM ends the program at once; the other two may come again by themselves, and are a
// wish each time.
#pragma once

#include <array>
#include <csignal>

namespace dfc::tool {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption(); ///< signals mean again what they meant before
  bool asked() const;
  bool byClosedOutput() const; ///< SIGPIPE was among the signals

 private:
  static constexpr std::array<int, 4> signals{SIGINT, SIGTERM, SIGHUP, SIGPIPE};
  std::array<void (*)(int), signals.size()> before_{};
};

} // namespace dfc::tool
