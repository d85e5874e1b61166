// One op of a GPU's compute queue, with the places of its operands and results.
#pragma once

#include "compiler/lower/regions.h"
#include "ir/graph/graph.h"
#include "ir/plan/launch_plan.h"

#include <llvm/ADT/SmallVector.h>

#include <string>

namespace dfc::cuda {

/// Where an op's operands and results lie.
struct Places {
  llvm::SmallVector<LaunchPointer, 4> operands;
  llvm::SmallVector<LaunchPointer, 2> results;
};

struct Computation {
  OpId op;
  Places at;
  std::string choice = {}; ///< the calibration's algorithm for its product; "" for the library's heuristic
  Region region = {};      ///< bounds reordering (regions.h)
  uint32_t position = 0;   ///< of its step in the queue
};

} // namespace dfc::cuda
