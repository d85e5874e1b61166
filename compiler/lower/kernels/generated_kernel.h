// CUDA C++ for the ops of the table: the contract between the generator (this folder) and what compiles and
// launches its text (runtime/cuda). Shapes, strides and types are constants of the text; buffers are the only
// arguments.
#pragma once

#include "ir/graph/op.h"
#include "ir/machine/gpu_shape.h"
#include "ir/plan/launch_plan.h"

#include <array>
#include <memory>

namespace dfc::cuda {

struct Chain;           // chain.h
struct ReductionRecipe; // reduction_plan.h

/// A pointer that a launch is given.
struct Argument {
  enum class From : uint8_t { Operand, Result, Workspace };
  From from = From::Operand;
  uint32_t index = 0; ///< of the operand or result
  int64_t offset = 0; ///< bytes; Workspace only
  /// Bytes of an element, where element i of the buffer is touched only by the thread that makes element i of
  /// the result; else 0.
  uint8_t stride = 0;
};

struct GeneratedLaunch {
  /// Goes behind `prelude()` into a namespace: `struct Shared`, what a block's threads share, and
  /// `run(<pointers>, const Block& block, Shared& shared)`, what a thread does, with helpers. Where
  /// `elements` is not 0, `run` has one more parameter, a function of a u64, and calls it with i after
  /// writing element i of the result. Where `alone` is true, `element(<pointers>, u64 i)` makes element i by
  /// itself. Where `packWidth` is not 0, `run` calls the function's `pack<W>(i)` instead after writing the
  /// elements from i to i + W, a pack; and where `alone` is true, too, `pack<W>(<pointers>, u64 i)` makes
  /// them by itself, for W up to `packWidth`.
  std::string code;
  std::array<uint32_t, 2> grid{1, 1};
  uint32_t threads = 1;                     ///< of a block; whole warps where they shuffle
  uint32_t sharedBytes = 0;                 ///< sizeof Shared; 0: empty
  uint32_t minBlocksPerMultiprocessor = 0;  ///< must have registers there at once; 0: no bound
  bool barriers = false;                    ///< the block's threads wait for one another
  bool singlePass = false;                  ///< every thread moves a few packs and is done
  int64_t elements = 0;                     ///< of the result, if threads call back for each; else 0
  bool alone = false;                       ///< any element of the result can be made by itself
  int64_t packWidth = 0;                    ///< elements of the widest pack; 0: `run` moves elements
  llvm::SmallVector<Argument, 4> arguments; ///< all pointers, in the order of `run`'s
  std::shared_ptr<const Chain> chain;       ///< a dense result's, element by element; else null
  std::shared_ptr<const ReductionRecipe>
      reduction; ///< of an unchanged operand, done by this launch; else null

  /// What the launch must ask for: shared memory beyond what a kernel declares by itself. Such a launch has
  /// a kernel of its own.
  uint32_t dynamicSharedBytes() const { return sharedBytes > mostStaticSharedBytes ? sharedBytes : 0; }
  static constexpr uint32_t mostStaticSharedBytes = 48 * 1024;

  uint64_t blocks() const { return uint64_t{grid[0]} * grid[1]; }
};

/// The launches of one op, one after the other on one stream. Workspace needs 256-byte alignment and no
/// contents.
struct GeneratedKernels {
  llvm::SmallVector<GeneratedLaunch, 1> launches;
  int64_t workspaceBytes = 0;
};

/// What every translation unit begins with. Includes nothing: NVRTC needs no header on the machine.
std::string_view prelude();

/// The kernels of an op for these types. None: the op has no kernel here (matmul, fusedMatmul, fusedConv2d,
/// custom, sources, state, views, transfers, requests) or its rule refuses the types. Results without
/// elements give no launches. Buffers must be aligned to 16 bytes; a result may be the very buffer of an
/// operand where `mayRunInPlace` says so. To be compiled with --fmad=false and neither fast math nor flush to
/// zero. Launches are sized for `gpu`; another GPU runs them too, and the bits are the same there.
std::optional<GeneratedKernels> generateKernels(const OpAttributes& attributes, OperandTypes operands,
                                                OperandTypes results, const GpuShape& gpu);

/// Fuses a reduction with the launch that produces its operand: a thread computes and writes an element
/// before it adds it to its sum, so that the element is not read again. Arguments: all of the producer's,
/// then those of the reduction without the operand. The bits are those of the two launches. None if the
/// producer is not a chain, `reduction` does not reduce an operand as it is, the two assign elements to
/// threads in different ways, or the threads of the reduction would write in scattered pieces.
std::optional<GeneratedLaunch> fusedWithReduction(const GeneratedLaunch& producer,
                                                  const GeneratedLaunch& reduction);

} // namespace dfc::cuda
