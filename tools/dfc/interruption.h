// Ctrl-C as a wish: while this object lives, the first SIGINT or SIGTERM asks for an end as soon as work can
// end without losing what was done; a second one ends the program at once.
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

 private:
  static constexpr std::array<int, 2> signals{SIGINT, SIGTERM};
  std::array<void (*)(int), signals.size()> before_{};
};

} // namespace dfc::tool
