#include "runtime/cuda/launches/launch_plan.h"

#include "runtime/cuda/kernels/kernel_text.h"
#include "runtime/cuda/launches/reduction_fusion.h"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>

namespace dfc::cuda {
namespace {

void take(PlannedLaunch& launch, const Unit& unit) {
  launch.pointers.insert(launch.pointers.end(), unit.pointers.begin(), unit.pointers.end());
}

// A unit by itself: its kernel's pointers are parameters of their own.
void makeSingle(PlannedLaunch& launch, const Unit& unit) {
  take(launch, unit);
  if (unit.byLibrary()) {
    launch.product = unit.product;
    launch.convolution = unit.convolution;
    return;
  }
  launch.text = kernelText(unit.launch);
  launch.grid = unit.launch.grid;
  launch.threads = unit.launch.threads;
}

void makeMerged(PlannedLaunch& launch, llvm::ArrayRef<Unit> units, const UnitGroup& group) {
  std::vector<KernelMember> members;
  for (const UnitMember& member : group.members) {
    KernelMember& stages = members.emplace_back();
    for (const UnitStage& stage : member) {
      KernelStage& made = stages.emplace_back();
      made.launch = &units[stage.unit].launch;
      for (const uint32_t follower : stage.followers) {
        made.followers.push_back(&units[follower].launch);
      }
    }
  }
  MergedKernel kernel = mergedKernel(members);
  for (const uint32_t member : kernel.order) {
    UnitGroup{{group.members[member]}}.forEach([&](uint32_t unit) { take(launch, units[unit]); });
  }
  launch.text = std::move(kernel.text);
  launch.grid = {kernel.blocks, 1};
  launch.threads = kernel.threads;
  launch.pointersByValue = true;
}

PlannedLaunch planned(llvm::ArrayRef<Unit> units, const UnitGroup& group) {
  PlannedLaunch launch;
  size_t count = 0;
  group.forEach([&](uint32_t unit) {
    launch.computations.push_back(units[unit].computation);
    if (units[unit].along) {
      launch.computations.push_back(*units[unit].along);
    }
    ++count;
  });
  llvm::sort(launch.computations);
  launch.computations.erase(std::unique(launch.computations.begin(), launch.computations.end()),
                            launch.computations.end());
  count == 1 ? makeSingle(launch, units[group.members[0][0].unit]) : makeMerged(launch, units, group);
  return launch;
}

} // namespace

LaunchPlan planLaunches(const Graph& graph, llvm::ArrayRef<Computation> computations, bool merge,
                        Libraries libraries) {
  Units units = unitsOf(graph, computations, merge, libraries);
  if (merge) {
    units.units = withFoldsMadeAlong(std::move(units.units));
  }
  LaunchPlan plan;
  plan.workspaceBytes = units.workspaceBytes;
  std::vector<uint32_t> positions;
  for (size_t i = 0; i < computations.size(); ++i) {
    const bool continues =
        merge && i > 0 && computations[i].segment.number == computations[i - 1].segment.number;
    positions.push_back(continues ? positions.back() : computations[i].position);
  }
  for (const UnitGroup& group : merge ? mergeUnits(units.units) : separateUnits(units.units)) {
    PlannedLaunch launch = planned(units.units, group);
    launch.position = positions[launch.computations[0]];
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

} // namespace dfc::cuda
