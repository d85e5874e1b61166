// Which units share a launch. A launch costs a queue about as much as a small kernel works, so units that do
// not touch each other's bytes go into one kernel side by side. One that needs another's result element by
// element (an update after the sum of a gradient) is made along with it, and others of one block each may
// follow one another in that block.
//
// Units are taken in the order of the executable. Each joins the earliest launch that it may join without
// passing one that it must stay behind, so that there are about as many launches as the longest chain has
// links; what cannot join draws an earlier launch to itself, if that may wait so long. What libraries make
// stays launches of its own, but others may pass it. No unit leaves its segment.
#pragma once

#include "runtime/cuda/launches/single_launch.h"

#include <algorithm>

namespace dfc::cuda {

/// A unit by its index, and those whose element i the thread makes that wrote element i of the unit's result.
struct UnitStage {
  uint32_t unit = 0;
  llvm::SmallVector<uint32_t, 1> followers;
};

/// Stages that follow one another in the same block; several only if each unit is one block.
using UnitMember = llvm::SmallVector<UnitStage, 1>;

/// One launch.
struct UnitGroup {
  std::vector<UnitMember> members;

  template <class Action>
  void forEach(const Action& action) const { ///< unit: a member's stages in turn, each with its followers
    for (const UnitMember& member : members) {
      for (const UnitStage& stage : member) {
        action(stage.unit);
        std::for_each(stage.followers.begin(), stage.followers.end(), action);
      }
    }
  }
};

struct MergeLimits {
  size_t pointers = 512;           ///< of a launch: 4 KiB of parameters
  size_t functions = 16;           ///< unlike kernels in one: what a merged kernel takes to compile
  uint64_t smallThreads = 1 << 16; ///< a launch of more threads fills a GPU by itself
  uint32_t paddedThreads =
      256;              ///< blocks of unlike sizes become as large as the largest, and that at most this
  size_t lookBack = 64; ///< launches that a unit may be moved over
};

/// In the order of launching. Units that fill a GPU by themselves share a launch only where all are streamed,
/// or have blocks of the same threads and shared memory that need registers for as many at once, so that none
/// loses what it needs to fill the GPU.
std::vector<UnitGroup> mergeUnits(llvm::ArrayRef<Unit> units, const MergeLimits& limits = {});

/// Every unit by itself.
std::vector<UnitGroup> separateUnits(llvm::ArrayRef<Unit> units);

} // namespace dfc::cuda
