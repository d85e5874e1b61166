// A graph on the host's CPU beside other programs with as many threads, whose samples alternate with dfc's.
#pragma once

#include "tools/bench/cost/costs.h"

#include <functional>

namespace dfc::bench {

struct CpuWork {
  std::string key, description;
  Result<Graph> graph;
  uint32_t steps; ///< of a sample
  NamedLiterals feeds = {};
  double mostOverBaseline = 1;                  ///< the requirement
  std::function<Status(Session&)> prepare = {}; ///< sets state before the first step
  std::string script = "torch_cpu.py";          ///< in baselines/
};

/// Adds the row `work.key`, where it is wanted, and the rows that `work.script` prints for the same key.
void besideBaseline(Harness& harness, const BaselineOptions& baselines, const CpuWork& work);

} // namespace dfc::bench
