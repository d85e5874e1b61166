// Horizontal fusion: which launches are merged into one launch. A launch costs a queue about as much as a
// small kernel runs, so independent launches become one kernel side by side. A launch that depends on another
// one element by element (an update after the sum of a gradient) follows in the same threads, and launches of
// one block each may follow one another in that block. Where the earlier launch works on packs of
// elements, an elementwise launch of any size may follow: each thread computes the same pack of both, and
// reads the operands that the earlier launch read or wrote from the cache. The updates of an optimiser's
// moments and weights are then one pass over memory.
//
// Launches are taken in the order of the executable. Each joins the earliest merged launch that it may join
// without passing one that it depends on, so that there are about as many merged launches as the longest
// dependence chain has links; one that cannot join may defer an earlier launch and join it. Library calls
// stay launches of their own, but other launches may pass them. No launch leaves its region (regions.h).
#pragma once

#include "compiler/lower/unmerged_launch.h"

#include <algorithm>

namespace dfc::cuda {

/// An unmerged launch by its index, and its followers: element i of a follower is computed by the thread that
/// wrote element i of the launch's result.
struct LaunchStage {
  uint32_t launch = 0;
  llvm::SmallVector<uint32_t, 1> followers;
};

/// Stages that run one after another in the same block; several only if each launch has one block.
using LaunchMember = llvm::SmallVector<LaunchStage, 1>;

/// The members of one merged launch, side by side.
struct LaunchGroup {
  std::vector<LaunchMember> members;

  template <class Action>
  void forEach(const Action& action) const { ///< launch: a member's stages in turn, each with its followers
    for (const LaunchMember& member : members) {
      for (const LaunchStage& stage : member) {
        action(stage.launch);
        std::for_each(stage.followers.begin(), stage.followers.end(), action);
      }
    }
  }
};

struct MergeLimits {
  size_t pointers = 512;           ///< of a merged launch: 4 KiB of parameters
  size_t functions = 16;           ///< distinct kernels in one: bounds the time to compile it
  uint64_t smallThreads = 1 << 16; ///< a launch of more threads fills a GPU by itself
  /// Limit on the padded block, in threads: smaller blocks of a merged launch are padded to the largest.
  uint32_t paddedThreads = 256;
  size_t lookBack = 64; ///< merged launches that a launch may be moved over
};

/// In the order of launching. Launches that fill a GPU by themselves are merged only if all are single-pass,
/// or if all have blocks of the same threads and shared memory and the same bound on registers, so that none
/// loses occupancy.
std::vector<LaunchGroup> mergeLaunches(llvm::ArrayRef<UnmergedLaunch> launches,
                                       const MergeLimits& limits = {});

/// Every launch by itself.
std::vector<LaunchGroup> separateLaunches(llvm::ArrayRef<UnmergedLaunch> launches);

} // namespace dfc::cuda
