#include "runtime/cuda/launches/merge.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <map>

namespace dfc::cuda {
namespace {

/// What a launch is, or would be.
struct Sum {
  bool libraries = false, small = true, streamed = true, alike = true;
  uint32_t sharedBytes = 0, blocksAtOnce = 0; ///< of the first
  size_t pointers = 0;
  uint64_t blocks = 0;
  uint32_t most = 0, least = ~0U; ///< threads of a block
  uint32_t leastWithBarriers = ~0U;
  llvm::SmallVector<uint32_t, 16> functions;
};

struct Group {
  UnitGroup units;
  Sum sum;
};

class Merger {
 public:
  Merger(llvm::ArrayRef<Unit> units, const MergeLimits& limits) : units_(units), limits_(limits) {
    std::map<std::string_view, uint32_t> numbers;
    for (const Unit& unit : units) {
      function_.push_back(numbers.emplace(unit.launch.code, numbers.size()).first->second);
    }
  }

  std::vector<UnitGroup> run() {
    for (uint32_t i = 0; i < units_.size(); ++i) {
      if (i == 0 || units_[i].segment.number != units_[i - 1].segment.number) {
        begin_ = groups_.size();
      }
      if (!place(i)) {
        groups_.emplace_back();
        join(i, groups_.back());
      }
    }
    std::vector<UnitGroup> launches;
    for (Group& group : groups_) {
      launches.push_back(std::move(group.units));
    }
    return launches;
  }

 private:
  bool place(uint32_t unit) {
    if (units_[unit].byLibrary()) {
      return false;
    }
    size_t at = groups_.size();
    const size_t first = std::max(begin_, at - std::min(at, limits_.lookBack));
    size_t earliest = at;
    while (at > first && !conflicts(unit, groups_[at - 1])) {
      --at;
      earliest = fits(unit, groups_[at]) ? at : earliest;
    }
    if (earliest < groups_.size()) {
      join(unit, groups_[earliest]);
      return true;
    }
    return (at > first && follow(unit, groups_[at - 1])) || draw(unit, first, at);
  }

  void join(uint32_t unit, Group& group) {
    group.units.members.push_back(UnitMember{UnitStage{unit, {}}});
    add(group.sum, unit);
  }

  /// Behind the one member that it must stay behind, in its threads or at least in its block.
  bool follow(uint32_t unit, Group& group) {
    UnitMember* behind = nullptr;
    for (UnitMember& member : group.units.members) {
      if (conflicts(unit, member)) {
        if (behind != nullptr) {
          return false;
        }
        behind = &member;
      }
    }
    return behind != nullptr &&
           (followElements(unit, behind->back(), group) || followBlock(unit, *behind, group));
  }

  bool followElements(uint32_t unit, UnitStage& stage, Group& group) {
    const auto behind = [&](uint32_t other) { return elementByElement(units_[other], units_[unit]); };
    Sum sum = group.sum;
    addCode(sum, unit);
    if (!isSmall(units_[unit]) || !behind(stage.unit) || !llvm::all_of(stage.followers, behind) ||
        !within(sum)) {
      return false;
    }
    stage.followers.push_back(unit);
    group.sum = std::move(sum);
    return true;
  }

  bool followBlock(uint32_t unit, UnitMember& member, Group& group) {
    const auto oneBlock = [&](const UnitStage& stage) {
      return !units_[stage.unit].byLibrary() && units_[stage.unit].launch.blocks() == 1;
    };
    const UnitStage own{unit, {}};
    if (!oneBlock(own) || !llvm::all_of(member, oneBlock) || !fits(unit, group)) {
      return false;
    }
    member.push_back(own);
    add(group.sum, unit);
    return true;
  }

  /// With the last launch before `end` that the unit fits into, if that one may wait until after all others.
  bool draw(uint32_t unit, size_t first, size_t end) {
    for (size_t at = end; at > first; --at) {
      const auto drawn = groups_.begin() + static_cast<ptrdiff_t>(at) - 1;
      if (fits(unit, *drawn) && !conflicts(unit, *drawn) && mayWait(drawn)) {
        std::rotate(drawn, drawn + 1, groups_.end());
        join(unit, groups_.back());
        return true;
      }
    }
    return false;
  }

  bool mayWait(std::vector<Group>::const_iterator group) const {
    bool may = true;
    group->units.forEach([&](uint32_t unit) {
      may = may && std::none_of(group + 1, groups_.end(),
                                [&](const Group& later) { return conflicts(unit, later); });
    });
    return may;
  }

  bool conflicts(uint32_t unit, const UnitMember& member) const {
    const auto with = [&](uint32_t other) { return conflict(units_[unit], units_[other]); };
    return llvm::any_of(member, [&](const UnitStage& stage) {
      return with(stage.unit) || llvm::any_of(stage.followers, with);
    });
  }
  bool conflicts(uint32_t unit, const Group& group) const {
    return llvm::any_of(group.units.members,
                        [&](const UnitMember& member) { return conflicts(unit, member); });
  }

  bool isSmall(const Unit& unit) const {
    return unit.launch.blocks() * unit.launch.threads <= limits_.smallThreads;
  }

  void addCode(Sum& sum, uint32_t index) const {
    sum.pointers += units_[index].pointers.size();
    if (!llvm::is_contained(sum.functions, function_[index])) {
      sum.functions.push_back(function_[index]);
    }
  }

  void add(Sum& sum, uint32_t index) const {
    const Unit& unit = units_[index];
    const GeneratedLaunch& launch = unit.launch;
    if (sum.blocks == 0) {
      sum.sharedBytes = launch.sharedBytes;
      sum.blocksAtOnce = launch.blocksAtOnce;
    }
    sum.alike = sum.alike && launch.sharedBytes == sum.sharedBytes && launch.blocksAtOnce == sum.blocksAtOnce;
    sum.libraries = sum.libraries || unit.byLibrary();
    sum.small = sum.small && isSmall(unit);
    sum.streamed = sum.streamed && launch.streamed;
    sum.blocks += launch.blocks();
    sum.most = std::max(sum.most, launch.threads);
    sum.least = std::min(sum.least, launch.threads);
    if (launch.barriers) {
      sum.leastWithBarriers = std::min(sum.leastWithBarriers, launch.threads);
    }
    addCode(sum, index);
  }

  bool fits(uint32_t unit, const Group& group) const {
    Sum sum = group.sum;
    add(sum, unit);
    return within(sum);
  }

  bool within(const Sum& sum) const {
    constexpr uint64_t mostBlocks = 0x7fffffff;
    const bool alike = sum.alike && sum.most == sum.least;
    return !sum.libraries && (sum.small || sum.streamed || alike) && sum.pointers <= limits_.pointers &&
           sum.functions.size() <= limits_.functions && sum.blocks <= mostBlocks &&
           (sum.most == sum.least || sum.most <= limits_.paddedThreads) && sum.leastWithBarriers >= sum.most;
  }

  llvm::ArrayRef<Unit> units_;
  MergeLimits limits_;
  std::vector<uint32_t> function_; ///< by unit: equal numbers for equal code
  std::vector<Group> groups_;
  size_t begin_ = 0; ///< of the segment's groups
};

} // namespace

std::vector<UnitGroup> mergeUnits(llvm::ArrayRef<Unit> units, const MergeLimits& limits) {
  return Merger(units, limits).run();
}

std::vector<UnitGroup> separateUnits(llvm::ArrayRef<Unit> units) {
  std::vector<UnitGroup> groups;
  for (uint32_t i = 0; i < units.size(); ++i) {
    groups.emplace_back().members.push_back(UnitMember{UnitStage{i, {}}});
  }
  return groups;
}

} // namespace dfc::cuda
