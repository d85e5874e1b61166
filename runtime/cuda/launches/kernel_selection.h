// What an op of the plan comes to: a product by cuBLASLt, generated kernels, or the one and then the other;
// or a convolution by a library.
#pragma once

#include "runtime/cuda/kernels/generated_kernel.h"
#include "runtime/cuda/launches/computation.h"
#include "runtime/cuda/launches/epilogue.h"
#include "runtime/cuda/launches/libraries.h"

#include <optional>

namespace dfc::cuda {

/// First the product, where there is one, then the kernels. Nothing at all for a result without elements.
struct Draft {
  bool convolution = false;                  ///< by the library for these, and nothing else
  std::optional<MatmulCall> library;         ///< a product by cuBLASLt; without addresses
  std::optional<Epilogue> epilogue;          ///< of the library's product
  std::optional<GeneratedWork> product;      ///< a product by a generated kernel
  std::optional<GeneratedWork> kernels;      ///< the op itself, or what follows its product
  std::optional<int64_t> productInWorkspace; ///< its offset; else it lies in the result
  int64_t productBytes = 0;
  int64_t workspaceBytes = 0;

  bool hasProduct() const { return library.has_value() || product.has_value(); }
};

/// Asserts that there is a kernel. Addresses count only in that operands may lie where the result does.
Draft draftOf(const Graph& graph, const Computation& computation, Libraries libraries = {});

/// Whether cuBLASLt may make the op's product; our own tiles may stand in for it (`tile_matmul.h`).
bool isLibraryProduct(const Graph& graph, OpId op);

bool hasCudaKernel(const Graph& graph, OpId op);

} // namespace dfc::cuda
