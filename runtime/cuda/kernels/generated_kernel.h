// CUDA C++ for the ops of the table: the contract between the generator (this folder) and what compiles and
// launches its text (runtime/cuda). Shapes, strides and types are constants of the text; buffers are the only
// arguments.
#pragma once

#include "ir/op.h"

#include <array>

namespace dfc::cuda {

/// A pointer that a launch is given.
struct Argument {
  enum class From : uint8_t { Operand, Result, Workspace };
  From from = From::Operand;
  uint32_t index = 0; ///< of the operand or result
  int64_t offset = 0; ///< bytes; Workspace only
};

struct GeneratedLaunch {
  std::string
      code; ///< goes behind `prelude()`: an extern "C" __global__ function `kernelName` and its helpers
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t sharedBytes = 0;                 ///< dynamic shared memory
  llvm::SmallVector<Argument, 4> arguments; ///< all pointers, in the order of the kernel's parameters
};

/// The launches of one op, one after the other on one stream. Workspace needs 256-byte alignment and no
/// contents.
struct GeneratedWork {
  llvm::SmallVector<GeneratedLaunch, 1> launches;
  int64_t workspaceBytes = 0;
};

inline constexpr std::string_view kernelName = "dfc_kernel"; ///< each launch is a translation unit of its own

/// What every translation unit begins with. Includes nothing: NVRTC needs no header on the machine.
std::string_view prelude();

/// The kernels of an op for these types. None: the op has no kernel here (matmul, fusedMatmul, sources,
/// state, views, transfers, requests) or its rule refuses the types. A result without elements gives no
/// launches. Buffers must be aligned to 16 bytes; a result may be the very buffer of an operand where
/// `mayRunInPlace` says so. To be compiled with --fmad=false and neither fast math nor flush to zero.
std::optional<GeneratedWork> generateKernels(const OpAttributes& attributes, OperandTypes operands,
                                             OperandTypes results);

} // namespace dfc::cuda
