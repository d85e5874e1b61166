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

void Launcher::push(const Step& round) {
  {
    const std::lock_guard lock(mutex_);
    rounds_.push_back(round);
  }
  woken_.notify_one();
}

bool Launcher::idle() const {
  const std::lock_guard lock(mutex_);
  return rounds_.empty();
}

void Launcher::waitIdle() const {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return rounds_.empty(); });
}

void Launcher::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    woken_.wait(lock, [this] { return stopping_ || !rounds_.empty(); });
    if (rounds_.empty()) {
      return;
    }
    const Step round = rounds_.front(); // stays in the queue until it is launched: nobody is idle before
    lock.unlock();
    launch_(round);
    lock.lock();
    rounds_.pop_front();
    if (rounds_.empty()) {
      idle_.notify_all();
    }
  }
}

} // namespace dfc::cuda
