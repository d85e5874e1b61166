// ProcessorSharing: tells in which order, and when, tasks under way end, where those on one device share it.
//
// A fluid model. A task that runs alone on its device takes its `seconds` and uses the part `utilisation` of
// the device's computing power. While the tasks under way on a device want no more than 1 together, each runs
// as if it were alone; where they want more, all of them are slowed down alike, to 1 / (sum of utilisations)
// of their speed, so that together they use exactly the whole device. Source: processor sharing, as queueing
// theory has it (Kleinrock 1967), with a capacity each.
//
// Assumes that sharing itself is free (no cache is spoilt, no multiprocessor left over by one kernel is lost)
// and that a task's utilisation is the same all the time it runs. A lower bound that follows: a device takes
// no less than the sum of seconds x utilisation of its tasks.
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

  /// `device`: any number below `devices`; tasks of no utilisation neither slow others down nor are slowed. A
  /// task is started at most once, and `now` never goes back.
  void start(uint32_t task, uint32_t device, double now, double seconds, double utilisation);
  bool idle() const { return count_ == 0; }
  /// When the next of the tasks under way ends, if no other starts before; not while idle.
  double next();
  /// Ends that task (of several at one moment the one with the smallest number) and gives it.
  uint32_t end();

 private:
  struct Running {
    double left = 0, since = 0; ///< seconds of work that were left at that time
    double utilisation = 0;
    uint32_t device = 0, version = 0;
  };
  struct Device {
    std::vector<uint32_t> tasks; ///< under way, with a utilisation
    double speed = 1;
  };
  using End = std::tuple<double, uint32_t, uint32_t>; ///< when, task, version of the task

  void changeSpeed(Device& device, double now);
  void dropOld();

  std::vector<Running> tasks_;
  std::vector<Device> devices_;
  std::priority_queue<End, std::vector<End>, std::greater<>>
      ends_; ///< all but the task's own version are old
  size_t count_ = 0;
};

} // namespace dfc
