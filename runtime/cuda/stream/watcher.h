// Watcher: a thread that polls launched steps for errors, since a GPU that failed cannot publish its
// progress. It sleeps while no step is in flight and polls once a millisecond otherwise.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace dfc::cuda {

class Watcher {
 public:
  /// `look(steps)`: whether none of the first `steps` steps is in flight any more; called on the thread.
  explicit Watcher(std::function<bool(uint64_t)> look);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  ~Watcher();
  void launched(uint64_t steps); ///< the number of steps launched since the session opened

 private:
  void run();

  std::function<bool(uint64_t)> look_;
  std::mutex mutex_;
  std::condition_variable woken_;
  uint64_t steps_ = 0, settled_ = 0; ///< guarded by mutex_
  bool stopping_ = false;            ///< guarded by mutex_
  std::thread thread_;
};

} // namespace dfc::cuda
