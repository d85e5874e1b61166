// UnmergedLaunch: one kernel or library call before launches are merged, with all bytes that it reads and
// writes.
#pragma once

#include "runtime/cuda/kernels/generated_kernel.h"
#include "runtime/cuda/launches/computation.h"
#include "runtime/cuda/launches/libraries.h"

#include <optional>
#include <vector>

namespace dfc::cuda {

/// An address, or an offset into the queue's workspace, which is allocated when its size is known.
struct Place {
  bool inWorkspace = false;
  uint64_t at = 0;

  static Place of(const std::byte* address) { return {false, reinterpret_cast<uint64_t>(address)}; }
  std::byte* resolved(std::byte* workspace) const {
    return inWorkspace ? workspace + at : reinterpret_cast<std::byte*>(at);
  }
};

struct Range {
  Place begin;
  int64_t bytes = 0;
  uint8_t stride = 0; ///< as Argument::stride
};

struct UnmergedLaunch {
  uint32_t computation = 0;               ///< its index
  std::optional<uint32_t> fusedReduction; ///< the computation whose first launch is fused into this one
  Region region;
  std::optional<MatmulCall> product;    ///< a product by cuBLASLt, without `out`, which is pointers[0]
  bool convolution = false;             ///< by cuDNN; pointers: operands, result, workspace
  GeneratedLaunch kernel;               ///< a generated kernel, if no library call
  llvm::SmallVector<Place, 4> pointers; ///< of the kernel's arguments
  llvm::SmallVector<Range, 4> reads, writes;

  bool byLibrary() const { return product.has_value() || convolution; }
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
};

/// `apart`: neighbouring computations get different parts of the workspace, up to a few MiB, so that sharing
/// it adds no dependence between them.
UnmergedLaunches unmergedLaunchesOf(const Graph& graph, llvm::ArrayRef<Computation> computations, bool apart,
                                    Libraries libraries = {});

} // namespace dfc::cuda
