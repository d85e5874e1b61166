#include "runtime/cuda/launches/merge.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc::cuda {
namespace {

/// What decides whether a group of single launches fits into one launch.
struct Totals {
  bool libraries = false, small = true, singlePass = true, alike = true;
  uint32_t sharedBytes = 0, minBlocksPerMultiprocessor = 0; ///< of the first kernel
  size_t pointers = 0;
  uint64_t blocks = 0;
  uint32_t most = 0, least = ~0U; ///< threads of a block
  uint32_t leastWithBarriers = ~0U;
  llvm::SmallVector<uint32_t, 16> functions;
};

struct Group {
  LaunchGroup launches;
  Totals totals;
};

class Merger {
 public:
  Merger(llvm::ArrayRef<SingleLaunch> launches, const MergeLimits& limits)
      : launches_(launches), limits_(limits) {
    std::map<std::string_view, uint32_t> numbers;
    for (const SingleLaunch& launch : launches) {
      function_.push_back(numbers.emplace(launch.kernel.code, numbers.size()).first->second);
    }
  }

  std::vector<LaunchGroup> run() {
    for (uint32_t i = 0; i < launches_.size(); ++i) {
      if (i == 0 || launches_[i].region.number != launches_[i - 1].region.number) {
        begin_ = groups_.size();
      }
      if (!place(i)) {
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
  bool place(uint32_t launch) {
    if (launches_[launch].byLibrary()) {
      return false;
    }
    size_t at = groups_.size();
    const size_t first = std::max(begin_, at - std::min(at, limits_.lookBack));
    size_t earliest = at;
    while (at > first && !conflicts(launch, groups_[at - 1])) {
      --at;
      earliest = fits(launch, groups_[at]) ? at : earliest;
    }
    if (earliest < groups_.size()) {
      join(launch, groups_[earliest]);
      return true;
    }
    return (at > first && follow(launch, groups_[at - 1])) || joinDeferred(launch, first, at);
  }

  void join(uint32_t launch, Group& group) {
    group.launches.members.push_back(LaunchMember{LaunchStage{launch, {}}});
    add(group.totals, launch);
  }

  /// Appends the launch to the one member that it depends on: to its threads if the dependence is
  /// elementwise, else to its block.
  bool follow(uint32_t launch, Group& group) {
    LaunchMember* behind = nullptr;
    for (LaunchMember& member : group.launches.members) {
      if (conflicts(launch, member)) {
        if (behind != nullptr) {
          return false;
        }
        behind = &member;
      }
    }
    return behind != nullptr &&
           (followElements(launch, behind->back(), group) || followBlock(launch, *behind, group));
  }

  bool followElements(uint32_t launch, LaunchStage& stage, Group& group) {
    const auto behind = [&](uint32_t other) { return elementByElement(launches_[other], launches_[launch]); };
    Totals totals = group.totals;
    addCode(totals, launch);
    if (!isSmall(launches_[launch]) || !behind(stage.launch) || !llvm::all_of(stage.followers, behind) ||
        !within(totals)) {
      return false;
    }
    stage.followers.push_back(launch);
    group.totals = std::move(totals);
    return true;
  }

  bool followBlock(uint32_t launch, LaunchMember& member, Group& group) {
    const auto oneBlock = [&](const LaunchStage& stage) {
      return !launches_[stage.launch].byLibrary() && launches_[stage.launch].kernel.blocks() == 1;
    };
    const LaunchStage own{launch, {}};
    if (!oneBlock(own) || !llvm::all_of(member, oneBlock) || !fits(launch, group)) {
      return false;
    }
    member.push_back(own);
    add(group.totals, launch);
    return true;
  }

  /// Joins the last group before `end` that the launch fits into and that may be deferred behind all others.
  bool joinDeferred(uint32_t launch, size_t first, size_t end) {
    for (size_t at = end; at > first; --at) {
      const auto deferred = groups_.begin() + static_cast<ptrdiff_t>(at) - 1;
      if (fits(launch, *deferred) && !conflicts(launch, *deferred) && mayBeDeferred(deferred)) {
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
                                [&](const Group& later) { return conflicts(launch, later); });
    });
    return may;
  }

  bool conflicts(uint32_t launch, const LaunchMember& member) const {
    const auto with = [&](uint32_t other) { return conflict(launches_[launch], launches_[other]); };
    return llvm::any_of(member, [&](const LaunchStage& stage) {
      return with(stage.launch) || llvm::any_of(stage.followers, with);
    });
  }
  bool conflicts(uint32_t launch, const Group& group) const {
    return llvm::any_of(group.launches.members,
                        [&](const LaunchMember& member) { return conflicts(launch, member); });
  }

  bool isSmall(const SingleLaunch& launch) const {
    return launch.kernel.blocks() * launch.kernel.threads <= limits_.smallThreads;
  }

  void addCode(Totals& totals, uint32_t index) const {
    totals.pointers += launches_[index].pointers.size();
    if (!llvm::is_contained(totals.functions, function_[index])) {
      totals.functions.push_back(function_[index]);
    }
  }

  void add(Totals& totals, uint32_t index) const {
    const SingleLaunch& launch = launches_[index];
    const GeneratedLaunch& kernel = launch.kernel;
    if (totals.blocks == 0) {
      totals.sharedBytes = kernel.sharedBytes;
      totals.minBlocksPerMultiprocessor = kernel.minBlocksPerMultiprocessor;
    }
    totals.alike = totals.alike && kernel.sharedBytes == totals.sharedBytes &&
                   kernel.minBlocksPerMultiprocessor == totals.minBlocksPerMultiprocessor;
    totals.libraries = totals.libraries || launch.byLibrary();
    totals.small = totals.small && isSmall(launch);
    totals.singlePass = totals.singlePass && kernel.singlePass;
    totals.blocks += kernel.blocks();
    totals.most = std::max(totals.most, kernel.threads);
    totals.least = std::min(totals.least, kernel.threads);
    if (kernel.barriers) {
      totals.leastWithBarriers = std::min(totals.leastWithBarriers, kernel.threads);
    }
    addCode(totals, index);
  }

  bool fits(uint32_t launch, const Group& group) const {
    Totals totals = group.totals;
    add(totals, launch);
    return within(totals);
  }

  bool within(const Totals& totals) const {
    constexpr uint64_t mostBlocks = 0x7fffffff;
    const bool alike = totals.alike && totals.most == totals.least;
    return !totals.libraries && (totals.small || totals.singlePass || alike) &&
           totals.pointers <= limits_.pointers && totals.functions.size() <= limits_.functions &&
           totals.blocks <= mostBlocks &&
           (totals.most == totals.least || totals.most <= limits_.paddedThreads) &&
           totals.leastWithBarriers >= totals.most;
  }

  llvm::ArrayRef<SingleLaunch> launches_;
  MergeLimits limits_;
  std::vector<uint32_t> function_; ///< by launch: equal numbers for equal code
  std::vector<Group> groups_;
  size_t begin_ = 0; ///< of the region's groups
};

} // namespace

std::vector<LaunchGroup> mergeLaunches(llvm::ArrayRef<SingleLaunch> launches, const MergeLimits& limits) {
  return Merger(launches, limits).run();
}

std::vector<LaunchGroup> separateLaunches(llvm::ArrayRef<SingleLaunch> launches) {
  std::vector<LaunchGroup> groups;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    groups.emplace_back().members.push_back(LaunchMember{LaunchStage{i, {}}});
  }
  return groups;
}

} // namespace dfc::cuda
