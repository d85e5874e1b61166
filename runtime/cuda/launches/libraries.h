// The libraries of the machine, as kernel selection asks them what they compute. Behind these interfaces
// planning needs no GPU; whatever a library does not compute, generated kernels do.
#pragma once

#include "ir/graph/op.h"
#include "ir/machine/gpu_shape.h"
#include "runtime/cuda/launches/matmul_call.h"

#include <optional>

namespace dfc::cuda {

class ConvolutionLibrary {
 public:
  virtual ~ConvolutionLibrary() = default;
  /// Bytes of workspace that it needs for the op; none where it does not compute it.
  virtual std::optional<int64_t> workspaceFor(const OpAttributes& attributes, OperandTypes operands) = 0;
};

class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;
  /// Whether the product's algorithm has this epilogue. The answer must not depend on addresses: it decides
  /// an op's bits, which are the same wherever its values lie.
  virtual bool takes(const MatmulCall& product, Activation activation, bool bias) = 0;
};

/// Null for a library that is not there. Without `products`, only epilogues of every algorithm are used.
struct Libraries {
  ConvolutionLibrary* convolutions = nullptr;
  ProductLibrary* products = nullptr;
  bool tiles = true;                  ///< the GPU runs the tiles of `tile_matmul.h`
  GpuShape gpu = GpuShape::assumed(); ///< that generated launches are sized for
};

} // namespace dfc::cuda
