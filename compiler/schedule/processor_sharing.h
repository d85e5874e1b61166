// ProcessorSharing: an event queue of running tasks, in which tasks that use one resource slow one another
// down: the computing power of a device, or the bandwidth of a memory.
//
// A fluid model. A task alone takes `seconds` and uses a fraction of each of its resources, its utilisation.
// While the utilisations of a resource sum to at most 1, its tasks run at full speed. Where they sum to more,
// they run at 1 / (sum of utilisations) of full speed, which uses exactly the whole resource. A task with two
// resources runs at the lower of the two speeds. Source: processor sharing in queueing theory (Kleinrock
// 1967), with a largest share for each task.
//
// Assumes that sharing costs nothing (no cache pollution, no multiprocessors left idle between kernels) and
// that the utilisation of a task is constant. It follows that a resource needs at least the sum of seconds x
// utilisation over its tasks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace dfc {

struct ResourceUse {
  uint32_t resource = 0; ///< a number below that of all resources
  double utilisation = 0;
};

class ProcessorSharing {
 public:
  ProcessorSharing(size_t tasks, size_t resources) : tasks_(tasks), resources_(resources) {}

  /// Uses of utilisation 0 neither slow others down nor are slowed down. A task is started at most once, and
  /// `now` never decreases.
  void start(uint32_t task, double now, double seconds, ResourceUse first, ResourceUse second = {});
  bool idle() const { return count_ == 0; }
  /// The end of the next running task to end, if no other task starts before; not while idle.
  double next();
  /// Ends that task (of several at one moment the one with the smallest number) and returns its number.
  uint32_t end();

 private:
  struct Running {
    double left = 0, since = 0; ///< seconds of work left at time `since`
    double speed = 1;
    std::array<ResourceUse, 2> uses = {};
    uint32_t version = 0;
  };
  struct Resource {
    std::vector<uint32_t> tasks; ///< running tasks of utilisation above 0
    double speed = 1;
  };
  using End = std::tuple<double, uint32_t, uint32_t>; ///< when, task, version of the task

  double speedOf(const Running& row) const;
  double utilisationOf(uint32_t task, uint32_t resource) const;
  void changeSpeed(uint32_t resource, double now);
  void dropOld();

  std::vector<Running> tasks_;
  std::vector<Resource> resources_;
  std::priority_queue<End, std::vector<End>, std::greater<>>
      ends_; ///< entries of an earlier version are stale
  size_t count_ = 0;
};

} // namespace dfc
