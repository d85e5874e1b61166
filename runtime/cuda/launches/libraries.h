// What libraries of the machine make. They are asked before the launches are planned, so that planning needs
// no GPU; whatever they do not make, and everything without them, is generated.
#pragma once

#include "ir/graph/op.h"
#include "ir/machine/gpu_shape.h"
#include "runtime/cuda/launches/matmul_call.h"

#include <optional>

namespace dfc::cuda {

class ConvolutionLibrary {
 public:
  virtual ~ConvolutionLibrary() = default;
  /// Bytes of workspace that it wants for the op; none where it does not make it.
  virtual std::optional<int64_t> workspaceFor(const OpAttributes& attributes, OperandTypes operands) = 0;
};

class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;
  /// Whether the algorithm that makes the product can end it so. The answer must not depend on addresses: it
  /// decides an op's bits, which are the same wherever its values lie.
  virtual bool takes(const MatmulCall& product, Ending ending, bool bias) = 0;
};

/// What the machine has; null for none. Without `products`, products end in what every algorithm has.
struct Libraries {
  ConvolutionLibrary* convolutions = nullptr;
  ProductLibrary* products = nullptr;
  bool tiles = true;                  ///< the GPU runs `tile_matmul.h`
  GpuShape gpu = GpuShape::assumed(); ///< that generated launches are sized for
};

} // namespace dfc::cuda
