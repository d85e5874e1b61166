// UnmergedLaunch: one kernel or library call before launches are merged, with all bytes that it reads and
// writes.
#pragma once

#include "compiler/lower/computation.h"
#include "compiler/lower/gpu_target.h"
#include "compiler/lower/kernels/generated_kernel.h"

#include <optional>
#include <vector>

namespace dfc::cuda {

/// Bytes that a launch accesses, and how.
struct Range {
  LaunchPointer begin;
  int64_t bytes = 0;
  uint8_t stride = 0;       ///< as Argument::stride
  uint32_t computation = 0; ///< that accesses them
};

struct UnmergedLaunch {
  uint32_t computation = 0;               ///< its index
  std::optional<uint32_t> fusedReduction; ///< the computation whose first launch is fused into this one
  Region region;
  std::optional<ProductCall> product;           ///< by cuBLASLt
  bool convolution = false;                     ///< by cuDNN
  bool custom = false;                          ///< by a custom op's own kernel
  GeneratedLaunch kernel;                       ///< a generated kernel, if no library call
  llvm::SmallVector<LaunchPointer, 4> pointers; ///< as `LaunchRow::pointers`
  llvm::SmallVector<Range, 4> reads, writes;    ///< those of the spare launches, too
  std::vector<UnmergedLaunch> spare;            ///< of a library call, as `LaunchRow::spare`

  /// Whether it is no kernel of ours: such a launch is neither merged nor fused.
  bool byLibrary() const { return product.has_value() || convolution || custom; }
};

/// Whether any byte belongs to a range of both lists.
bool overlap(llvm::ArrayRef<Range> some, llvm::ArrayRef<Range> others);

/// A data dependence: one of the two writes what the other reads or writes, so that they keep their order.
bool dependent(const UnmergedLaunch& a, const UnmergedLaunch& b);

/// An elementwise dependence: element i of `later` needs no more of `earlier` than its element i, and
/// overwrites nothing that other elements of `earlier` read. One thread may then compute both elements.
bool elementByElement(const UnmergedLaunch& earlier, const UnmergedLaunch& later);

struct UnmergedLaunches {
  std::vector<UnmergedLaunch> launches; ///< in the order of the computations
  int64_t workspaceBytes = 0;
  std::vector<uint32_t> missing; ///< computations without a kernel
};

/// `apart`: neighbouring computations get different parts of the workspace, up to a few MiB, so that sharing
/// it adds no dependence between them.
UnmergedLaunches unmergedLaunchesOf(const Graph& graph, llvm::ArrayRef<Computation> computations, bool apart,
                                    const GpuTarget& target = {});

} // namespace dfc::cuda
