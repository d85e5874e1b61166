// One op of a queue's program, with the addresses that the runtime resolved for it.
#pragma once

#include "ir/graph/graph.h"
#include "runtime/cuda/launches/regions.h"

#include <llvm/ADT/SmallVector.h>

#include <cstddef>
#include <string>

namespace dfc::cuda {

/// The addresses of an op's operands and results.
struct Addresses {
  llvm::SmallVector<std::byte*, 4> operands;
  llvm::SmallVector<std::byte*, 2> results;
};

struct Computation {
  OpId op;
  Addresses at;
  std::string choice = {}; ///< the calibration's algorithm for its product; "" for the library's heuristic
  Region region = {};      ///< bounds reordering (regions.h)
  uint32_t position = 0;   ///< of its command in the program
};

} // namespace dfc::cuda
