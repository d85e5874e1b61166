#include "runtime/cuda/launches/launch_plan.h"

#include "runtime/cuda/kernels/kernel_text.h"
#include "runtime/cuda/launches/reduction_fusion.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

void take(PlannedLaunch& launch, const UnmergedLaunch& unmerged) {
  launch.pointers.insert(launch.pointers.end(), unmerged.pointers.begin(), unmerged.pointers.end());
}

// A launch by itself: each of its kernel's pointers is a parameter.
void makeUnmerged(PlannedLaunch& launch, const UnmergedLaunch& unmerged) {
  take(launch, unmerged);
  if (unmerged.byLibrary()) {
    launch.product = unmerged.product;
    launch.convolution = unmerged.convolution;
    return;
  }
  launch.text = kernelText(unmerged.kernel);
  launch.grid = unmerged.kernel.grid;
  launch.threads = unmerged.kernel.threads;
  launch.dynamicSharedBytes = unmerged.kernel.dynamicSharedBytes();
}

void makeMerged(PlannedLaunch& launch, llvm::ArrayRef<UnmergedLaunch> launches, const LaunchGroup& group) {
  std::vector<KernelMember> members;
  for (const LaunchMember& member : group.members) {
    KernelMember& stages = members.emplace_back();
    for (const LaunchStage& stage : member) {
      KernelStage& made = stages.emplace_back();
      made.launch = &launches[stage.launch].kernel;
      for (const uint32_t follower : stage.followers) {
        made.followers.push_back(&launches[follower].kernel);
      }
    }
  }
  MergedKernel kernel = mergedKernel(members);
  for (const uint32_t member : kernel.order) {
    LaunchGroup{{group.members[member]}}.forEach([&](uint32_t index) { take(launch, launches[index]); });
  }
  launch.text = std::move(kernel.text);
  launch.grid = {kernel.blocks, 1};
  launch.threads = kernel.threads;
  launch.pointersByValue = true;
}

PlannedLaunch planned(llvm::ArrayRef<UnmergedLaunch> launches, const LaunchGroup& group) {
  PlannedLaunch launch;
  size_t count = 0;
  group.forEach([&](uint32_t index) {
    launch.computations.push_back(launches[index].computation);
    if (launches[index].fusedReduction) {
      launch.computations.push_back(*launches[index].fusedReduction);
    }
    ++count;
  });
  llvm::sort(launch.computations);
  launch.computations.erase(std::unique(launch.computations.begin(), launch.computations.end()),
                            launch.computations.end());
  count == 1 ? makeUnmerged(launch, launches[group.members[0][0].launch])
             : makeMerged(launch, launches, group);
  return launch;
}

} // namespace

LaunchPlan planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                        Libraries libraries) {
  UnmergedLaunches unmerged = unmergedLaunchesOf(graph, computations, merge, libraries);
  if (merge) {
    unmerged.launches =
        fuseReductions(std::move(unmerged.launches),
                       {.reductionBlocks = static_cast<uint64_t>(libraries.gpu.multiprocessors)});
  }
  LaunchPlan plan;
  plan.workspaceBytes = unmerged.workspaceBytes;
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < computations.size(); ++i) {
    const bool continues =
        merge && i > 0 && computations[i].region.number == computations[i - 1].region.number;
    positions.push_back(continues ? positions.back() : computations[i].position);
  }
  for (const LaunchGroup& group :
       merge ? mergeLaunches(unmerged.launches) : separateLaunches(unmerged.launches)) {
    PlannedLaunch launch = planned(unmerged.launches, group);
    launch.position = positions[launch.computations[0]];
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace dfc::cuda
