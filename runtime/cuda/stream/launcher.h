// Launcher: a thread that launches steps. The launch of a graph over several GPUs is slow on the host, and
// the submitting thread need not wait for it while an earlier step is in flight.
#pragma once

#include "runtime/backend.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace dfc::cuda {

class Launcher {
 public:
  /// `launch(step)`: called on the thread, in the order of `push`; throws nothing.
  explicit Launcher(std::function<void(const Step&)> launch);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher(); ///< returns after all pushed steps are launched
  void push(const Step& step);
  bool idle() const;
  void waitIdle() const;

 private:
  void run();

  std::function<void(const Step&)> launch_;
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  mutable std::condition_variable idle_;
  std::deque<Step> steps_; ///< pushed and not yet launched; guarded by mutex_
  bool stopping_ = false;  ///< guarded by mutex_
  std::thread thread_;
};

} // namespace dfc::cuda
