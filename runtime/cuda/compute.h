// The launches of a queue on a stream: matrix products through cuBLASLt, convolutions through cuDNN where the
// machine has it, everything else through the plan's kernels, compiled together.
#pragma once

#include "ir/graph/graph.h"
#include "ir/plan/launch_plan.h"
#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream_launch.h"
#include "runtime/state/arena_map.h"

namespace dfc::cuda {

/// The GPU that a queue computes on, and what its launches share.
struct ComputeSite {
  int ordinal = 0;
  std::string architecture;
  KernelLibrary* library = nullptr;
  SideTable<DeviceId, std::byte*> arenas; ///< base addresses, of the GPU and its peers; else null
  /// Where the plan's offsets lie, where parameters are another session's; null: behind the base addresses.
  std::shared_ptr<const ArenaMaps> maps = nullptr;
};

struct ComputeLaunch {
  std::unique_ptr<StreamLaunch> streamLaunch;
  const LaunchRow* row = nullptr; ///< of the plan
};

/// In the plan's order.
struct ComputeLaunches {
  DeviceBuffer workspace;        ///< of the generated kernels
  DeviceBuffer libraryWorkspace; ///< of each call of a library in turn
  std::vector<ComputeLaunch> launches;
};

/// `rows`: those of one queue of the plan, which outlives the launches; `workspaceBytes`: the queue's. A
/// library's call that the library of this machine does not have is replaced by its spare launches. Throws
/// MachineError, naming the op, and Error at a custom op whose kernel does not compile.
ComputeLaunches makeLaunches(const Graph& graph, const LaunchPlan& plan, llvm::ArrayRef<LaunchRow> rows,
                             int64_t workspaceBytes, const ComputeSite& site);

} // namespace dfc::cuda
