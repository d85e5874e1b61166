// A graph on the host's CPU beside PyTorch with as many threads, whose samples alternate with those of dfc.
#pragma once

#include "tools/bench/cost/costs.h"

#include <functional>

namespace dfc::bench {

struct TorchWork {
  std::string key, description;
  Result<Graph> graph;
  uint32_t steps; ///< of a sample
  NamedLiterals feeds = {};
  double mostOverTorch = 1;                     ///< the requirement
  std::function<Status(Session&)> prepare = {}; ///< sets state before the first step
  std::string script = "torch_cpu.py";          ///< in baselines/
};

/// Adds the row `work.key`, where it is wanted, beside those that the script has for it.
void besideTorch(Harness& harness, const BaselineOptions& baselines, const TorchWork& work);

} // namespace dfc::bench
