#include "tools/dfc/run/interruption.h"

#include <atomic>

namespace dfc::tool {
namespace {

std::atomic<bool> wished{false}, outputClosed{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void wish(int signal) {
  wished = true;
  if (signal == SIGPIPE) {
    outputClosed = true;
  } else if (signal != SIGHUP) {
    std::signal(signal, SIG_DFL);
  }
}

} // namespace

Interruption::Interruption() {
  wished = outputClosed = false;
  for (size_t i = 0; i < signals.size(); ++i) {
    before_[i] = std::signal(signals[i], wish);
    if (before_[i] == SIG_IGN) { // as a shell has it for what runs in the background
      std::signal(signals[i], SIG_IGN);
    }
  }
}

Interruption::~Interruption() {
  for (size_t i = 0; i < signals.size(); ++i) {
    std::signal(signals[i], before_[i]);
  }
}

bool Interruption::asked() const { return wished; }
bool Interruption::byClosedOutput() const { return outputClosed; }

} // namespace dfc::tool
