#include "runtime/cuda/stream/launcher.h"

namespace dfc::cuda {

Launcher::Launcher(std::function<void(const Step&)> launch)
    : launch_(std::move(launch)), thread_([this] { run(); }) {}

Launcher::~Launcher() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Launcher::push(const Step& step) {
  {
    const std::lock_guard lock(mutex_);
    steps_.push_back(step);
  }
  woken_.notify_one();
}

bool Launcher::idle() const {
  const std::lock_guard lock(mutex_);
  return steps_.empty();
}

void Launcher::waitIdle() const {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return steps_.empty(); });
}

void Launcher::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    woken_.wait(lock, [this] { return stopping_ || !steps_.empty(); });
    if (steps_.empty()) {
      return;
    }
    const Step step = steps_.front(); // stays in the queue until it is launched: idle() is false before
    lock.unlock();
    launch_(step);
    lock.lock();
    steps_.pop_front();
    if (steps_.empty()) {
      idle_.notify_all();
    }
  }
}

} // namespace dfc::cuda
