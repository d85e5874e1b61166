#include "compiler/lower/lower_queue.h"

namespace dfc::cuda {

bool runsOn(OpKind kind, const GpuTarget& target) {
  return target.tiles || (kind != OpKind::Attention && kind != OpKind::AttentionGradient);
}

std::vector<OpId> LaunchPlanBuilder::addQueue(QueueId queue, llvm::ArrayRef<Computation> computations,
                                              bool merge, const GpuTarget& target,
                                              llvm::function_ref<OpId(uint32_t position)> opAt) {
  QueueLaunches made = planLaunches(graph_, computations, merge, target);
  plan_.workspaceBytes[queue] = made.workspaceBytes;
  std::vector<OpId> missing;
  for (const uint32_t computation : made.missing) {
    missing.push_back(computations[computation].op);
  }
  for (PlannedLaunch& launch : made.launches) {
    std::vector<OpId> ops;
    for (const uint32_t computation : launch.computations) {
      ops.push_back(computations[computation].op);
    }
    const OpId at = opAt(launch.position);
    plan_.launches.push_back(rowOf(std::move(launch), queue, at, ops));
  }
  return missing;
}

LaunchRow LaunchPlanBuilder::rowOf(PlannedLaunch launch, QueueId queue, OpId at,
                                   const std::vector<OpId>& ops) {
  LaunchRow row = std::move(launch.row);
  row.queue = queue;
  row.at = at;
  row.ops = ops;
  if (row.kind == LaunchKind::Kernel) {
    row.kernel = kernelOf(std::move(launch.text));
  }
  for (PlannedLaunch& spare : launch.spare) {
    row.spare.push_back(rowOf(std::move(spare), queue, at, ops));
  }
  return row;
}

uint32_t LaunchPlanBuilder::kernelOf(std::string text) {
  const auto [found, isNew] = kernels_.try_emplace(text, static_cast<uint32_t>(plan_.kernels.size()));
  if (isNew) {
    plan_.kernels.push_back(std::move(text));
  }
  return found->second;
}

} // namespace dfc::cuda
