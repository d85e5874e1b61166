// A thread that launches rounds for the one that submits them: the launch of a graph over several GPUs takes
// the host tens of microseconds, which nobody has to wait for while an earlier round still runs.
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
  /// `launch(round)`: called on the thread, in the order of `push`; throws nothing.
  explicit Launcher(std::function<void(const Step&)> launch);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher(); ///< after all that was pushed is launched
  void push(const Step& round);
  bool idle() const;
  void waitIdle() const;

 private:
  void run();

  std::function<void(const Step&)> launch_;
  mutable std::mutex mutex_;
  std::condition_variable woken_;
  mutable std::condition_variable idle_;
  std::deque<Step> rounds_; ///< pushed and not yet launched; guarded by mutex_
  bool stopping_ = false;   ///< guarded by mutex_
  std::thread thread_;
};

} // namespace dfc::cuda
