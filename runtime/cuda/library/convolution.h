// Convolutions and their gradients by cuDNN, where the machine has it and it has an algorithm for the call.
// The algorithm is chosen when a plan is opened, from the op and its types alone, and only among those
// without atomics: every run gives the same bits. f32 is computed in f32 or, where the op says so, in tf32;
// f16 and bf16 accumulate in f32.
#pragma once

#include "ir/graph/op.h"
#include "runtime/cuda/stream_launch.h"

#include <llvm/ADT/ArrayRef.h>

#include <memory>

namespace dfc::cuda {

/// A convolution with its algorithm chosen.
class LibraryConvolution {
 public:
  virtual ~LibraryConvolution() = default;
  virtual int64_t workspaceBytes() const = 0;
  /// `pointers`: the op's operands, its result. The launch may outlive this.
  virtual std::unique_ptr<StreamLaunch> launch(llvm::ArrayRef<std::byte*> pointers,
                                               std::byte* workspace) const = 0;
};

/// Null where cuDNN is not installed or has no algorithm for the op, which is a convolution that the compiler
/// leaves to a library.
std::unique_ptr<LibraryConvolution> findConvolution(const OpAttributes& attributes, OperandTypes operands,
                                                    int ordinal);

} // namespace dfc::cuda
