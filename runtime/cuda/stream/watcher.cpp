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

void Watcher::launched(uint64_t rounds) {
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    idle = rounds_ == settled_;
    rounds_ = rounds;
  }
  if (idle) {
    woken_.notify_one();
  }
}

void Watcher::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (rounds_ == settled_) {
      woken_.wait(lock);
      continue;
    }
    const uint64_t rounds = rounds_;
    lock.unlock();
    const bool settled = look_(rounds);
    lock.lock();
    if (settled) {
      settled_ = rounds;
    } else {
      woken_.wait_for(lock, std::chrono::milliseconds(1));
    }
  }
}

} // namespace dfc::cuda
