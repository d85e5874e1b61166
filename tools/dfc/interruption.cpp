#include "tools/dfc/interruption.h"

#include <atomic>
#include <csignal>

namespace dfc::tool {
namespace {

std::atomic<bool> wished{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void wish(int signal) {
  wished = true;
  std::signal(signal, SIG_DFL);
}

} // namespace

Interruption::Interruption() {
  wished = false;
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, wish) == SIG_IGN) { // as a shell has it for what runs in the background
      std::signal(signal, SIG_IGN);
    }
  }
}

Interruption::~Interruption() {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, SIG_DFL) == SIG_IGN) {
      std::signal(signal, SIG_IGN);
    }
  }
}

bool Interruption::asked() const { return wished; }

} // namespace dfc::tool
