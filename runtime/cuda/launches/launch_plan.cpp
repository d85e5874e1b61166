#include "runtime/cuda/launches/launch_plan.h"

#include "runtime/cuda/kernels/kernel_text.h"
#include "runtime/cuda/launches/reduction_fusion.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

void take(PlannedLaunch& launch, const SingleLaunch& single) {
  launch.pointers.insert(launch.pointers.end(), single.pointers.begin(), single.pointers.end());
}

// A launch by itself: each of its kernel's pointers is a parameter.
void makeSingle(PlannedLaunch& launch, const SingleLaunch& single) {
  take(launch, single);
  if (single.byLibrary()) {
    launch.product = single.product;
    launch.convolution = single.convolution;
    return;
  }
  launch.text = kernelText(single.kernel);
  launch.grid = single.kernel.grid;
  launch.threads = single.kernel.threads;
}

void makeMerged(PlannedLaunch& launch, llvm::ArrayRef<SingleLaunch> singles, const LaunchGroup& group) {
  std::vector<KernelMember> members;
  for (const LaunchMember& member : group.members) {
    KernelMember& stages = members.emplace_back();
    for (const LaunchStage& stage : member) {
      KernelStage& made = stages.emplace_back();
      made.launch = &singles[stage.launch].kernel;
      for (const uint32_t follower : stage.followers) {
        made.followers.push_back(&singles[follower].kernel);
      }
    }
  }
  MergedKernel kernel = mergedKernel(members);
  for (const uint32_t member : kernel.order) {
    LaunchGroup{{group.members[member]}}.forEach([&](uint32_t single) { take(launch, singles[single]); });
  }
  launch.text = std::move(kernel.text);
  launch.grid = {kernel.blocks, 1};
  launch.threads = kernel.threads;
  launch.pointersByValue = true;
}

PlannedLaunch planned(llvm::ArrayRef<SingleLaunch> singles, const LaunchGroup& group) {
  PlannedLaunch launch;
  size_t count = 0;
  group.forEach([&](uint32_t single) {
    launch.computations.push_back(singles[single].computation);
    if (singles[single].fusedReduction) {
      launch.computations.push_back(*singles[single].fusedReduction);
    }
    ++count;
  });
  llvm::sort(launch.computations);
  launch.computations.erase(std::unique(launch.computations.begin(), launch.computations.end()),
                            launch.computations.end());
  count == 1 ? makeSingle(launch, singles[group.members[0][0].launch]) : makeMerged(launch, singles, group);
  return launch;
}

} // namespace

LaunchPlan planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                        Libraries libraries) {
  SingleLaunches singles = singleLaunchesOf(graph, computations, merge, libraries);
  if (merge) {
    singles.launches =
        fuseReductions(std::move(singles.launches),
                       {.reductionBlocks = static_cast<uint64_t>(libraries.gpu.multiprocessors)});
  }
  LaunchPlan plan;
  plan.workspaceBytes = singles.workspaceBytes;
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < computations.size(); ++i) {
    const bool continues =
        merge && i > 0 && computations[i].region.number == computations[i - 1].region.number;
    positions.push_back(continues ? positions.back() : computations[i].position);
  }
  for (const LaunchGroup& group :
       merge ? mergeLaunches(singles.launches) : separateLaunches(singles.launches)) {
    PlannedLaunch launch = planned(singles.launches, group);
    launch.position = positions[launch.computations[0]];
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace dfc::cuda
