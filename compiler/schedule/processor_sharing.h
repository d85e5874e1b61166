// ProcessorSharing: an event queue of running tasks, in which tasks on one device slow one another down.
//
// A fluid model. A task alone on its device takes `seconds` and uses the fraction `utilisation` of the
// device's computing power. While the utilisations of the running tasks sum to at most 1, each runs at full
// speed. Where they sum to more, all of them run at 1 / (sum of utilisations) of their speed, so that
// together they use exactly the whole device. Source: processor sharing in queueing theory (Kleinrock 1967),
// with a largest share for each task.
//
// Assumes that sharing costs nothing (no cache pollution, no multiprocessors left idle between kernels) and
// that the utilisation of a task is constant. It follows that a device needs at least the sum of seconds x
// utilisation over its tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace dfc {

class ProcessorSharing {
 public:
  ProcessorSharing(size_t tasks, size_t devices) : tasks_(tasks), devices_(devices) {}

  /// `device`: a number below `devices`. Tasks of utilisation 0 neither slow others down nor are slowed down.
  /// A task is started at most once, and `now` never decreases.
  void start(uint32_t task, uint32_t device, double now, double seconds, double utilisation);
  bool idle() const { return count_ == 0; }
  /// The end of the next running task to end, if no other task starts before; not while idle.
  double next();
  /// Ends that task (of several at one moment the one with the smallest number) and returns its number.
  uint32_t end();

 private:
  struct Running {
    double left = 0, since = 0; ///< seconds of work left at time `since`
    double utilisation = 0;
    uint32_t device = 0, version = 0;
  };
  struct Device {
    std::vector<uint32_t> tasks; ///< running tasks of utilisation above 0
    double speed = 1;
  };
  using End = std::tuple<double, uint32_t, uint32_t>; ///< when, task, version of the task

  void changeSpeed(Device& device, double now);
  void dropOld();

  std::vector<Running> tasks_;
  std::vector<Device> devices_;
  std::priority_queue<End, std::vector<End>, std::greater<>>
      ends_; ///< entries of an earlier version are stale
  size_t count_ = 0;
};

} // namespace dfc
