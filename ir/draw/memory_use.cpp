// The bytes that are held at a moment are the measure of a union of ranges, kept up to date by a segment tree
// over their borders (Bentley 1977, Klee's measure problem).
#include "ir/draw/memory_use.h"

#include "ir/graph/graph.h"

#include <algorithm>

namespace dfc {
namespace {

/// How many bytes lie in at least one of the ranges that are in it.
class RangeUnion {
 public:
  /// `borders`: of all ranges to come, sorted, each once; at least two.
  explicit RangeUnion(std::vector<int64_t> borders)
      : borders_(std::move(borders)), nodes_(4 * borders_.size()) {}
  void add(int64_t begin, int64_t end, int by) { change(1, 0, borders_.size() - 1, {begin, end}, by); }
  int64_t bytes() const { return nodes_[1].bytes; }

 private:
  struct Node {
    int ranges = 0; // that cover all of the node, but not all of the node above
    int64_t bytes = 0;
  };
  struct Range {
    int64_t begin, end;
  };

  void change(size_t node, size_t first, size_t last, Range range, int by) {
    if (range.end <= borders_[first] || borders_[last] <= range.begin) {
      return;
    }
    if (range.begin <= borders_[first] && borders_[last] <= range.end) {
      nodes_[node].ranges += by;
    } else {
      const size_t middle = (first + last) / 2;
      change(2 * node, first, middle, range, by);
      change(2 * node + 1, middle, last, range, by);
    }
    const bool isLeaf = last - first == 1;
    nodes_[node].bytes = nodes_[node].ranges > 0 ? borders_[last] - borders_[first]
                         : isLeaf                ? 0
                                                 : nodes_[2 * node].bytes + nodes_[2 * node + 1].bytes;
  }

  std::vector<int64_t> borders_;
  std::vector<Node> nodes_;
};

struct Event {
  double at;
  int by;
  Slot slot;
};

std::vector<MemoryPoint> heldOver(std::vector<Event> events) {
  std::vector<int64_t> borders = {0, arenaAlignment};
  for (const Event& event : events) {
    borders.insert(borders.end(), {event.slot.offset, event.slot.offset + event.slot.bytes});
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  RangeUnion held(std::move(borders));
  std::vector<MemoryPoint> points = {{0, 0}};
  for (const Event& event : events) {
    held.add(event.slot.offset, event.slot.offset + event.slot.bytes, event.by);
    if (points.back().at < event.at) {
      points.push_back({event.at, 0});
    }
    points.back().bytes = held.bytes();
  }
  return points;
}

std::vector<ValueLife> livesOf(const Executable& plan, const TraceStep& step) {
  const Graph& graph = plan.graph();
  const Schedule& schedule = plan.schedule();
  SideTable<ValueId, double> lastRead(graph.valueCount(), 0);
  for (const OpId op : graph.ops()) {
    const StepId reader = schedule.stepOf[op];
    for (const ValueId operand : graph[op].operands) {
      lastRead[operand] = std::max(lastRead[operand], reader.valid() ? step.at[reader].end : 0);
    }
  }
  for (const Fetch& fetch : graph.fetches()) {
    lastRead[fetch.value] = step.makespan;
  }
  std::vector<ValueLife> lives;
  for (const ValueId value : graph.values()) {
    const StepId maker = schedule.stepOf[graph[value].producer];
    const ValueLife life =
        maker.valid() ? ValueLife{value, step.at[maker].begin, std::max(step.at[maker].end, lastRead[value])}
                      : ValueLife{value, 0, step.makespan};
    if (plan.memory().slots[value].bytes > 0) {
      lives.push_back(life);
    }
  }
  return lives;
}

} // namespace

MemoryUse memoryUse(const Executable& plan, const TraceStep& step) {
  MemoryUse use;
  use.lives = livesOf(plan, step);
  SideTable<DeviceId, std::vector<Event>> events(plan.machine().devices.size());
  for (const ValueLife& life : use.lives) {
    const Slot& slot = plan.memory().slots[life.value];
    events[slot.device].push_back({life.begin, 1, slot});
    events[slot.device].push_back({life.end, -1, slot});
  }
  use.held.resize(plan.machine().devices.size());
  for (const DeviceId device : plan.machine().devices.ids()) {
    use.held[device] = heldOver(std::move(events[device]));
  }
  return use;
}

} // namespace dfc
