// Task graphs as bare numbers: every executor of `dfc-bench --only overhead` runs the same ones. Independent
// of dfc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::bench {

/// Tasks 0 … count() - 1, each behind tasks of smaller numbers.
struct Dag {
  std::vector<uint32_t> first = {0}; ///< task i has the predecessors [first[i], first[i + 1]) of `before`
  std::vector<uint32_t> before;
  uint32_t count() const { return static_cast<uint32_t>(first.size()) - 1; }
  void add(const std::vector<uint32_t>& predecessors);
};

/// Each task needs the one before it.
Dag chain(uint32_t tasks);
/// No task needs another.
Dag independent(uint32_t tasks);
/// A square of side^2 tasks, each behind its neighbours above and to the left.
Dag wavefront(uint32_t side);
/// Layers of 100 tasks, each task behind three different ones of the layer before; the same for the same
/// number.
Dag layered(uint32_t tasks);

/// The four of the cost table, smaller ones with `quick`: "chain", "independent", "wavefront", "layered".
struct NamedDag {
  std::string name, description;
  Dag dag;
};
std::vector<NamedDag> overheadDags(bool quick);

} // namespace dfc::bench
