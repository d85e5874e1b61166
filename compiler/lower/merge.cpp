#include "compiler/lower/merge.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc::cuda {
namespace {

/// What decides whether a group of unmerged launches fits into one launch.
struct GroupSummary {
  bool libraries = false, dynamicShared = false, small = true, singlePass = true, sameResources = true;
  uint32_t sharedBytes = 0, minBlocksPerMultiprocessor = 0; ///< of the first kernel
  size_t pointers = 0;
  uint64_t blocks = 0;
  uint32_t maxThreads = 0, minThreads = ~0U; ///< threads of a block
  uint32_t minThreadsWithBarriers = ~0U;
  llvm::SmallVector<uint32_t, 16> functions;
};

struct Group {
  LaunchGroup launches;
  GroupSummary summary;
};

class Merger {
 public:
  Merger(llvm::ArrayRef<UnmergedLaunch> launches, const MergeLimits& limits)
      : launches_(launches), limits_(limits) {
    std::map<std::string_view, uint32_t> numbers;
    function_.reserve(launches.size());
    for (const UnmergedLaunch& launch : launches) {
      function_.push_back(numbers.emplace(launch.kernel.code, numbers.size()).first->second);
    }
  }

  std::vector<LaunchGroup> run() {
    for (uint32_t i = 0; i < launches_.size(); ++i) {
      if (i == 0 || launches_[i].region.number != launches_[i - 1].region.number) {
        begin_ = groups_.size();
      }
      if (!tryMerge(i)) {
        groups_.emplace_back();
        join(i, groups_.back());
      }
    }
    std::vector<LaunchGroup> merged;
    for (Group& group : groups_) {
      merged.push_back(std::move(group.launches));
    }
    return merged;
  }

 private:
  bool tryMerge(uint32_t launch) {
    if (launches_[launch].byLibrary()) {
      return false;
    }
    size_t at = groups_.size();
    const size_t first = std::max(begin_, at - std::min(at, limits_.lookBack));
    size_t earliest = at;
    while (at > first && !anyDependent(launch, groups_[at - 1])) {
      --at;
      earliest = fits(launch, groups_[at]) ? at : earliest;
    }
    if (earliest < groups_.size()) {
      join(launch, groups_[earliest]);
      return true;
    }
    return (at > first && appendToMember(launch, groups_[at - 1])) || sinkGroupAndJoin(launch, first, at);
  }

  void join(uint32_t launch, Group& group) {
    group.launches.members.push_back(LaunchMember{LaunchStage{launch, {}}});
    add(group.summary, launch);
  }

  /// Appends the launch to the one member that it depends on: to its threads if the dependence is
  /// elementwise, else to its block.
  bool appendToMember(uint32_t launch, Group& group) {
    LaunchMember* predecessor = nullptr;
    for (LaunchMember& member : group.launches.members) {
      if (anyDependent(launch, member)) {
        if (predecessor != nullptr) {
          return false;
        }
        predecessor = &member;
      }
    }
    return predecessor != nullptr && (fuseIntoThreads(launch, predecessor->back(), group) ||
                                      appendToBlock(launch, *predecessor, group));
  }

  bool fuseIntoThreads(uint32_t launch, LaunchStage& stage, Group& group) {
    const auto isElementwiseAfter = [&](uint32_t other) {
      return elementByElement(launches_[other], launches_[launch]);
    };
    GroupSummary summary = group.summary;
    addCode(summary, launch);
    if (!isSmall(launches_[launch]) || !isElementwiseAfter(stage.launch) ||
        !llvm::all_of(stage.followers, isElementwiseAfter) || !withinLimits(summary)) {
      return false;
    }
    stage.followers.push_back(launch);
    group.summary = std::move(summary);
    return true;
  }

  bool appendToBlock(uint32_t launch, LaunchMember& member, Group& group) {
    const auto oneBlock = [&](const LaunchStage& stage) {
      return !launches_[stage.launch].byLibrary() && launches_[stage.launch].kernel.blocks() == 1;
    };
    const LaunchStage own{launch, {}};
    if (!oneBlock(own) || !llvm::all_of(member, oneBlock) || !fits(launch, group)) {
      return false;
    }
    member.push_back(own);
    add(group.summary, launch);
    return true;
  }

  /// Joins the last group before `end` that the launch fits into and that may be deferred behind all others.
  bool sinkGroupAndJoin(uint32_t launch, size_t first, size_t end) {
    for (size_t at = end; at > first; --at) {
      const auto deferred = groups_.begin() + static_cast<ptrdiff_t>(at) - 1;
      if (fits(launch, *deferred) && !anyDependent(launch, *deferred) && mayBeDeferred(deferred)) {
        std::rotate(deferred, deferred + 1, groups_.end());
        join(launch, groups_.back());
        return true;
      }
    }
    return false;
  }

  bool mayBeDeferred(std::vector<Group>::const_iterator group) const {
    bool may = true;
    group->launches.forEach([&](uint32_t launch) {
      may = may && std::none_of(group + 1, groups_.end(),
                                [&](const Group& later) { return anyDependent(launch, later); });
    });
    return may;
  }

  bool anyDependent(uint32_t launch, const LaunchMember& member) const {
    const auto with = [&](uint32_t other) { return dependent(launches_[launch], launches_[other]); };
    return llvm::any_of(member, [&](const LaunchStage& stage) {
      return with(stage.launch) || llvm::any_of(stage.followers, with);
    });
  }
  bool anyDependent(uint32_t launch, const Group& group) const {
    return llvm::any_of(group.launches.members,
                        [&](const LaunchMember& member) { return anyDependent(launch, member); });
  }

  bool isSmall(const UnmergedLaunch& launch) const {
    return launch.kernel.blocks() * launch.kernel.threads <= limits_.smallThreads;
  }

  void addCode(GroupSummary& summary, uint32_t index) const {
    summary.pointers += launches_[index].pointers.size();
    if (!llvm::is_contained(summary.functions, function_[index])) {
      summary.functions.push_back(function_[index]);
    }
  }

  void add(GroupSummary& summary, uint32_t index) const {
    const UnmergedLaunch& launch = launches_[index];
    const GeneratedLaunch& kernel = launch.kernel;
    if (summary.blocks == 0) {
      summary.sharedBytes = kernel.sharedBytes;
      summary.minBlocksPerMultiprocessor = kernel.minBlocksPerMultiprocessor;
    }
    summary.sameResources = summary.sameResources && kernel.sharedBytes == summary.sharedBytes &&
                            kernel.minBlocksPerMultiprocessor == summary.minBlocksPerMultiprocessor;
    summary.libraries = summary.libraries || launch.byLibrary();
    summary.dynamicShared = summary.dynamicShared || kernel.dynamicSharedBytes() > 0;
    summary.small = summary.small && isSmall(launch);
    summary.singlePass = summary.singlePass && kernel.singlePass;
    summary.blocks += kernel.blocks();
    summary.maxThreads = std::max(summary.maxThreads, kernel.threads);
    summary.minThreads = std::min(summary.minThreads, kernel.threads);
    if (kernel.barriers) {
      summary.minThreadsWithBarriers = std::min(summary.minThreadsWithBarriers, kernel.threads);
    }
    addCode(summary, index);
  }

  bool fits(uint32_t launch, const Group& group) const {
    GroupSummary summary = group.summary;
    add(summary, launch);
    return withinLimits(summary);
  }

  bool withinLimits(const GroupSummary& summary) const {
    constexpr uint64_t maxBlocks = 0x7fffffff;
    const bool sameLaunchBounds = summary.sameResources && summary.maxThreads == summary.minThreads;
    return !summary.libraries && !summary.dynamicShared &&
           (summary.small || summary.singlePass || sameLaunchBounds) &&
           summary.pointers <= limits_.pointers && summary.functions.size() <= limits_.functions &&
           summary.blocks <= maxBlocks &&
           (summary.maxThreads == summary.minThreads || summary.maxThreads <= limits_.paddedThreads) &&
           summary.minThreadsWithBarriers >= summary.maxThreads;
  }

  llvm::ArrayRef<UnmergedLaunch> launches_;
  MergeLimits limits_;
  std::vector<uint32_t> function_; ///< by launch: equal numbers for equal code
  std::vector<Group> groups_;
  size_t begin_ = 0; ///< of the region's groups
};

} // namespace

std::vector<LaunchGroup> mergeLaunches(llvm::ArrayRef<UnmergedLaunch> launches, const MergeLimits& limits) {
  return Merger(launches, limits).run();
}

std::vector<LaunchGroup> separateLaunches(llvm::ArrayRef<UnmergedLaunch> launches) {
  std::vector<LaunchGroup> groups;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    groups.emplace_back().members.push_back(LaunchMember{LaunchStage{i, {}}});
  }
  return groups;
}

} // namespace dfc::cuda
