// Convolutions and their gradients by cuDNN, where the machine has it and it supports the call; elsewhere by
// generated kernels (kernels/convolution.cpp). The choice is made when a plan is opened, from the op and its
// types alone: the quickest algorithm by cuDNN's heuristics among the deterministic ones, so that every run
// gives the same bits. f32 is computed in f32, in tf32 only where the op says so; f16 and bf16 accumulate in
// f32.
#pragma once

#include "runtime/cuda/launches/libraries.h"
#include "runtime/cuda/stream_launch.h"

#include <memory>

namespace dfc::cuda {

/// cuDNN on one GPU.
class CudnnConvolutions final : public ConvolutionLibrary {
 public:
  explicit CudnnConvolutions(int ordinal) : ordinal_(ordinal) {}
  /// None also where the op is no convolution or has no elements.
  std::optional<int64_t> workspaceFor(const OpAttributes& attributes, OperandTypes operands) override;
  /// Of an op for which `workspaceFor` gave a number. `pointers`: its operands, its result, the workspace.
  std::unique_ptr<StreamLaunch> launch(const OpAttributes& attributes, OperandTypes operands,
                                       llvm::ArrayRef<std::byte*> pointers);

 private:
  int ordinal_;
};

} // namespace dfc::cuda
