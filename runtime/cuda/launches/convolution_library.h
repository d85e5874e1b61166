// Convolutions that a library of the machine makes. Which those are is asked before the launches are planned,
// so that planning needs no GPU; for all others, and without a library, kernels are generated.
#pragma once

#include "ir/op.h"

#include <optional>

namespace dfc::cuda {

class ConvolutionLibrary {
 public:
  virtual ~ConvolutionLibrary() = default;
  /// Bytes of workspace that it wants for the op; none where it does not make it.
  virtual std::optional<int64_t> workspaceFor(const OpAttributes& attributes, OperandTypes operands) = 0;
};

} // namespace dfc::cuda
