// A thread that looks after launched rounds: a GPU that fails cannot publish its progress, so somebody has to
// notice. It sleeps while nothing is under way and looks once a millisecond otherwise.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace dfc::cuda {

class Watcher {
 public:
  /// `look(rounds)`: whether nothing of the first `rounds` rounds is under way any more; called on the
  /// thread.
  explicit Watcher(std::function<bool(uint64_t)> look);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();
  void launched(uint64_t rounds); ///< so many since the beginning

 private:
  void run();

  std::function<bool(uint64_t)> look_;
  std::mutex mutex_;
  std::condition_variable woken_;
  uint64_t rounds_ = 0, settled_ = 0; ///< guarded by mutex_
  bool stopping_ = false;             ///< guarded by mutex_
  std::thread thread_;
};

} // namespace dfc::cuda
