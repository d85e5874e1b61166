#include "tools/bench/graphs/dag.h"

#include <algorithm>
#include <random>

namespace dfc::bench {
namespace {

constexpr uint32_t layerTasks = 100, edgesOfTask = 3;

/// Three different tasks of the layer that begins at `begin`.
std::vector<uint32_t> threeOf(uint32_t begin, std::mt19937_64& random) {
  std::vector<uint32_t> chosen;
  while (chosen.size() < edgesOfTask) {
    const auto task = static_cast<uint32_t>(begin + random() % layerTasks);
    if (std::find(chosen.begin(), chosen.end(), task) == chosen.end()) {
      chosen.push_back(task);
    }
  }
  return chosen;
}

std::string counted(uint32_t tasks, const std::string& description) {
  return std::to_string(tasks) + " " + description;
}

} // namespace

void Dag::add(const std::vector<uint32_t>& predecessors) {
  before.insert(before.end(), predecessors.begin(), predecessors.end());
  first.push_back(static_cast<uint32_t>(before.size()));
}

Dag chain(uint32_t tasks) {
  Dag dag;
  for (uint32_t task = 0; task < tasks; ++task) {
    dag.add(task == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{task - 1});
  }
  return dag;
}

Dag independent(uint32_t tasks) {
  Dag dag;
  for (uint32_t task = 0; task < tasks; ++task) {
    dag.add({});
  }
  return dag;
}

Dag wavefront(uint32_t side) {
  Dag dag;
  for (uint32_t task = 0; task < side * side; ++task) {
    std::vector<uint32_t> before;
    if (task >= side) {
      before.push_back(task - side);
    }
    if (task % side != 0) {
      before.push_back(task - 1);
    }
    dag.add(before);
  }
  return dag;
}

Dag layered(uint32_t tasks) {
  Dag dag;
  std::mt19937_64 random(tasks);
  for (uint32_t task = 0; task < tasks; ++task) {
    const uint32_t layer = task / layerTasks;
    dag.add(layer == 0 ? std::vector<uint32_t>{} : threeOf((layer - 1) * layerTasks, random));
  }
  return dag;
}

std::vector<NamedDag> overheadDags(bool quick) {
  const uint32_t tasks = quick ? 2000 : 100000, side = quick ? 44 : 316;
  std::vector<NamedDag> dags;
  dags.push_back({"chain", counted(tasks, "tasks in a chain"), chain(tasks)});
  dags.push_back({"independent", counted(tasks, "independent tasks"), independent(tasks)});
  dags.push_back({"wavefront", counted(side, "x ") + counted(side, "wavefront"), wavefront(side)});
  dags.push_back({"layered", counted(tasks, "tasks in random layers, 3 edges each"), layered(tasks)});
  return dags;
}

} // namespace dfc::bench
