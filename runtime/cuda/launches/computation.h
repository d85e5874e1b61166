// One op of a queue's program, as the runtime resolved it.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cuda/launches/regions.h"

#include <llvm/ADT/SmallVector.h>

#include <cstddef>
#include <string>

namespace dfc::cuda {

/// Where an op's operands and results lie.
struct Addresses {
  llvm::SmallVector<std::byte*, 4> operands;
  llvm::SmallVector<std::byte*, 2> results;
};

struct Computation {
  OpId op;
  Addresses at;
  std::string choice = {}; ///< how the calibration wants its product made; "" for the library's heuristic
  /// Computations of one segment may be launched in any order that keeps them from each other's bytes: nobody
  /// outside waits between them, and none of them waits but the first. Those of one stretch may be launched
  /// sooner.
  Segment segment = {};
  uint32_t position = 0; ///< of its command in the program
};

} // namespace dfc::cuda
