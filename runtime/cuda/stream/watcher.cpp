#include "runtime/cuda/stream/watcher.h"

#include <chrono>

namespace dfc::cuda {

Watcher::Watcher(std::function<bool(uint64_t)> look) : look_(std::move(look)), thread_([this] { run(); }) {}

Watcher::~Watcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Watcher::launched(uint64_t steps) {
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    idle = steps_ == settled_;
    steps_ = steps;
  }
  if (idle) {
    woken_.notify_one();
  }
}

void Watcher::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (steps_ == settled_) {
      woken_.wait(lock);
      continue;
    }
    const uint64_t steps = steps_;
    lock.unlock();
    const bool settled = look_(steps);
    lock.lock();
    if (settled) {
      settled_ = steps;
    } else {
      woken_.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
}

} // namespace dfc::cuda
