#include "compiler/lower/plan_launches.h"

#include "compiler/lower/kernels/kernel_text.h"
#include "compiler/lower/reduction_fusion.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

class Planner {
 public:
  Planner(llvm::ArrayRef<Computation> computations, llvm::ArrayRef<UnmergedLaunch> launches)
      : computations_(computations), launches_(launches) {}

  PlannedLaunch planned(const LaunchGroup& group) const {
    PlannedLaunch launch;
    size_t count = 0;
    group.forEach([&](uint32_t index) {
      launch.computations.push_back(launches_[index].computation);
      if (launches_[index].fusedReduction) {
        launch.computations.push_back(*launches_[index].fusedReduction);
      }
      ++count;
    });
    llvm::sort(launch.computations);
    launch.computations.erase(std::unique(launch.computations.begin(), launch.computations.end()),
                              launch.computations.end());
    count == 1 ? makeUnmerged(launch, launches_[group.members[0][0].launch]) : makeMerged(launch, group);
    return launch;
  }

 private:
  void take(LaunchRow& row, const UnmergedLaunch& unmerged, uint32_t kernel = 0) const {
    const auto append = [&](auto& to, llvm::ArrayRef<Range> from) {
      for (const Range& range : from) {
        to.push_back({range.begin, range.bytes, computations_[range.computation].op, kernel});
      }
    };
    row.pointers.insert(row.pointers.end(), unmerged.pointers.begin(), unmerged.pointers.end());
    append(row.reads, unmerged.reads);
    append(row.writes, unmerged.writes);
  }

  // A launch by itself: each of its kernel's pointers is a parameter.
  void makeUnmerged(PlannedLaunch& launch, const UnmergedLaunch& unmerged) const {
    LaunchRow& row = launch.row;
    take(row, unmerged);
    if (unmerged.byLibrary()) {
      row.kind = unmerged.custom        ? LaunchKind::Custom
                 : unmerged.convolution ? LaunchKind::Convolution
                                        : LaunchKind::Product;
      row.product = unmerged.product;
      for (const UnmergedLaunch& spare : unmerged.spare) {
        makeUnmerged(launch.spare.emplace_back(), spare);
      }
      return;
    }
    launch.text = kernelText(unmerged.kernel);
    row.grid = unmerged.kernel.grid;
    row.threads = unmerged.kernel.threads;
    row.dynamicSharedBytes = unmerged.kernel.dynamicSharedBytes();
  }

  void makeMerged(PlannedLaunch& launch, const LaunchGroup& group) const {
    std::vector<KernelMember> members;
    for (const LaunchMember& member : group.members) {
      KernelMember& stages = members.emplace_back();
      for (const LaunchStage& stage : member) {
        KernelStage& made = stages.emplace_back();
        made.launch = &launches_[stage.launch].kernel;
        for (const uint32_t follower : stage.followers) {
          made.followers.push_back(&launches_[follower].kernel);
        }
      }
    }
    MergedKernel kernel = mergedKernel(members);
    uint32_t next = 0;
    for (const uint32_t member : kernel.order) {
      LaunchGroup{{group.members[member]}}.forEach(
          [&](uint32_t index) { take(launch.row, launches_[index], next++); });
    }
    launch.text = std::move(kernel.text);
    launch.row.grid = {kernel.blocks, 1};
    launch.row.threads = kernel.threads;
    launch.row.pointersByValue = true;
  }

  llvm::ArrayRef<Computation> computations_;
  llvm::ArrayRef<UnmergedLaunch> launches_;
};

} // namespace

QueueLaunches planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                           const GpuTarget& target) {
  UnmergedLaunches unmerged = unmergedLaunchesOf(graph, computations, merge, target);
  if (!unmerged.missing.empty()) {
    return {{}, 0, std::move(unmerged.missing)};
  }
  if (merge) {
    unmerged.launches = fuseReductions(
        std::move(unmerged.launches), {.reductionBlocks = static_cast<uint64_t>(target.gpu.multiprocessors)});
  }
  QueueLaunches plan;
  plan.workspaceBytes = unmerged.workspaceBytes;
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < computations.size(); ++i) {
    const bool continues =
        merge && i > 0 && computations[i].region.number == computations[i - 1].region.number;
    positions.push_back(continues ? positions.back() : computations[i].position);
  }
  const Planner planner(computations, unmerged.launches);
  for (const LaunchGroup& group :
       merge ? mergeLaunches(unmerged.launches) : separateLaunches(unmerged.launches)) {
    PlannedLaunch launch = planner.planned(group);
    launch.position = positions[launch.computations[0]];
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace dfc::cuda
