#include "compiler/lower/merge.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>
#include <tuple>

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

/// Where a member is: the index of its group, and its own there.
struct MemberPlace {
  size_t group = 0, member = 0;
  bool operator==(const MemberPlace&) const = default;
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
    // A large launch gains more from the cache than from a launch saved.
    if (!isSmall(launches_[launch]) &&
        ((at > first && appendToMember(launch, groups_[at - 1])) || gatherPredecessors(launch, first))) {
      return true;
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

  /// Appends the launch to the members that it depends on: to their threads if the dependence is elementwise,
  /// several members becoming one; else to the block of the only one.
  bool appendToMember(uint32_t launch, Group& group) {
    llvm::SmallVector<size_t, 4> predecessors;
    for (size_t i = 0; i < group.launches.members.size(); ++i) {
      if (anyDependent(launch, group.launches.members[i])) {
        predecessors.push_back(i);
      }
    }
    return !predecessors.empty() && (fuseIntoThreads(launch, predecessors, group) ||
                                     (predecessors.size() == 1 &&
                                      appendToBlock(launch, group.launches.members[predecessors[0]], group)));
  }

  bool fuseIntoThreads(uint32_t launch, llvm::ArrayRef<size_t> predecessors, Group& group) {
    std::vector<LaunchMember>& members = group.launches.members;
    LaunchStage joined = members[predecessors[0]].back();
    for (const size_t other : predecessors.drop_front()) {
      if (members[predecessors[0]].size() > 1 || members[other].size() > 1 ||
          !joinStages(joined, members[other][0])) {
        return false;
      }
    }
    GroupSummary summary = group.summary;
    addCode(summary, launch);
    if (!follows(launch, joined) || !withinLimits(summary)) {
      return false;
    }
    joined.followers.push_back(launch);
    members[predecessors[0]].back() = std::move(joined);
    for (const size_t other : llvm::reverse(predecessors.drop_front())) {
      summary.blocks -= launches_[members[other][0].launch].kernel.blocks();
      members.erase(members.begin() + static_cast<ptrdiff_t>(other));
    }
    group.summary = std::move(summary);
    return true;
  }

  /// Defers members that the launch depends on element by element, whatever groups they are in, and makes one
  /// member of them with the launch: behind all groups, in the last one if it fits there.
  bool gatherPredecessors(uint32_t launch, size_t first) {
    std::optional<LaunchStage> stage;
    std::vector<MemberPlace> taken;
    for (size_t at = groups_.size(); at > first; --at) {
      const std::vector<LaunchMember>& members = groups_[at - 1].launches.members;
      for (size_t i = 0; i < members.size(); ++i) {
        LaunchStage joined = members[i][0]; // earlier than those taken so far
        if (anyDependent(launch, members[i]) && members[i].size() == 1 && mayBeDeferred({at - 1, i}, taken) &&
            (!stage || joinStages(joined, *stage)) && follows(launch, joined)) {
          stage = std::move(joined);
          taken.push_back({at - 1, i});
        }
      }
    }
    if (!stage) {
      return false;
    }
    stage->followers.push_back(launch);
    const LaunchMember member{*std::move(stage)};
    GroupSummary alone;
    add(alone, member);
    if (!withinLimits(alone)) {
      return false;
    }
    remove(taken);
    if (groups_.size() == begin_ || anyDependent(member, groups_.back()) || !fits(member, groups_.back())) {
      groups_.emplace_back();
    }
    add(groups_.back().summary, member);
    groups_.back().launches.members.push_back(member);
    return true;
  }

  bool mayBeDeferred(const MemberPlace& place, llvm::ArrayRef<MemberPlace> alsoDeferred) const {
    const LaunchMember& member = groups_[place.group].launches.members[place.member];
    for (size_t later = place.group + 1; later < groups_.size(); ++later) {
      const std::vector<LaunchMember>& members = groups_[later].launches.members;
      for (size_t i = 0; i < members.size(); ++i) {
        if (!llvm::is_contained(alsoDeferred, MemberPlace{later, i}) && anyDependent(member, members[i])) {
          return false;
        }
      }
    }
    return true;
  }

  void remove(std::vector<MemberPlace> places) {
    llvm::sort(places, [](const MemberPlace& a, const MemberPlace& b) {
      return std::tie(a.group, a.member) > std::tie(b.group, b.member);
    });
    for (const MemberPlace& place : places) {
      Group& group = groups_[place.group];
      group.launches.members.erase(group.launches.members.begin() + static_cast<ptrdiff_t>(place.member));
      group.summary = {};
      for (const LaunchMember& member : group.launches.members) {
        add(group.summary, member);
      }
      if (group.launches.members.empty()) {
        groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(place.group));
      }
    }
  }

  /// Makes one stage of two, if the launches of the later one can follow in the threads of the earlier one;
  /// or the other way round where they are independent.
  bool joinStages(LaunchStage& into, LaunchStage stage) const {
    if (!launches_[stage.launch].kernel.alone) {
      if (anyDependent(LaunchMember{into}, LaunchMember{stage})) {
        return false;
      }
      std::swap(into, stage);
    }
    const auto follow = [&](uint32_t launch) {
      const bool may = follows(launch, into);
      into.followers.push_back(launch);
      return may;
    };
    return follow(stage.launch) && llvm::all_of(stage.followers, follow);
  }

  bool follows(uint32_t launch, const LaunchStage& stage) const {
    const auto isElementwiseAfter = [&](uint32_t other) {
      return elementByElement(launches_[other], launches_[launch]);
    };
    const GeneratedLaunch &leader = launches_[stage.launch].kernel, &own = launches_[launch].kernel;
    const bool packs = leader.packWidth > 0 && own.packWidth > 0;
    return (packs || (leader.packWidth == 0 && isSmall(launches_[launch]))) &&
           isElementwiseAfter(stage.launch) && llvm::all_of(stage.followers, isElementwiseAfter);
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
  bool anyDependent(const LaunchMember& member, const LaunchMember& other) const {
    return llvm::any_of(member, [&](const LaunchStage& stage) {
      const auto with = [&](uint32_t launch) { return anyDependent(launch, other); };
      return with(stage.launch) || llvm::any_of(stage.followers, with);
    });
  }
  bool anyDependent(const LaunchMember& member, const Group& group) const {
    return llvm::any_of(group.launches.members,
                        [&](const LaunchMember& other) { return anyDependent(member, other); });
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

  void add(GroupSummary& summary, const LaunchMember& member) const {
    for (const LaunchStage& stage : member) {
      add(summary, stage.launch);
      for (const uint32_t follower : stage.followers) {
        addCode(summary, follower);
      }
    }
  }

  template <class Added> ///< a launch or a member
  bool fits(const Added& added, const Group& group) const {
    GroupSummary summary = group.summary;
    add(summary, added);
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
