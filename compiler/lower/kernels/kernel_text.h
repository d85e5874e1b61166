// The translation units of generated launches: one launch a kernel, or many in one ("horizontal fusion": Li,
// Zheng, Pekhimenko, Long: Automatic Horizontal Fusion for GPU Kernels, 2022, here without interleaving
// threads). Who may share a kernel is decided elsewhere (merge.h); here it becomes text.
//
// A merged kernel's blocks are dealt out in ranges: each member gets as many as it has by itself. A member is
// one launch, or several of one block each that follow one another in that block, a barrier apart. A launch
// may have followers, of which each makes element i of its result in the thread that wrote element i of the
// launch's. Members of the same text are written once and find their pointers by their number, so that the
// text does not grow with them, and depends on neither names nor addresses.
#pragma once

#include "compiler/lower/kernels/generated_kernel.h"

#include <vector>

namespace dfc::cuda {

/// The launch as a kernel, to stand behind `prelude()`: `kernelName(pointer, …)`, `launch.threads` a block.
std::string kernelText(const GeneratedLaunch& launch);

/// A launch and its followers, which are `alone` and have as many `elements` as it has.
struct KernelStage {
  const GeneratedLaunch* launch = nullptr;
  llvm::SmallVector<const GeneratedLaunch*, 1> followers;
};

/// Stages that follow one another in the same block; more than one only where each is a single block.
using KernelMember = llvm::SmallVector<KernelStage, 1>;

struct MergedKernel {
  /// To stand behind `prelude()`: `kernelName(Given)`, where Given is the array of all pointers, by value.
  std::string text;
  uint32_t blocks = 0, threads = 0;
  /// The members as their pointers follow one another; in each the stages in turn, each with its followers.
  std::vector<uint32_t> order;
};

/// Launches without dynamic shared memory. Those of fewer threads than the widest must have no barriers.
/// Blocks in all: below 2^31. Registers for so many blocks at once are asked for where all stages need them
/// for as many.
MergedKernel mergedKernel(llvm::ArrayRef<KernelMember> members);

} // namespace dfc::cuda
