// Kernel selection: which kernels or library calls compute an op of the plan: a product by cuBLASLt,
// generated kernels, a product followed by generated kernels, a convolution by cuDNN, or an author's own
// kernel.
#pragma once

#include "compiler/lower/computation.h"
#include "compiler/lower/epilogue.h"
#include "compiler/lower/gpu_target.h"
#include "compiler/lower/kernels/generated_kernel.h"

#include <memory>
#include <optional>

namespace dfc::cuda {

/// The product runs first, where there is one, then the kernels. Empty for a result without elements.
struct KernelSelection {
  std::string_view candidate;                ///< the candidate that computes a product; "" for other ops
  bool convolution = false;                  ///< by cuDNN, and nothing else
  bool custom = false;                       ///< by the kernel that a custom op brings, and nothing else
  std::optional<ProductCall> library;        ///< a product by cuBLASLt
  std::optional<Epilogue> epilogue;          ///< of the library's product
  std::optional<GeneratedKernels> product;   ///< a product by a generated kernel
  std::optional<GeneratedKernels> kernels;   ///< the whole op, or what follows its product
  std::optional<int64_t> productInWorkspace; ///< the product's offset there; else it lies in the result
  bool missing = false;                      ///< there is no kernel for the op's types
  int64_t productBytes = 0;
  int64_t workspaceBytes = 0;
  /// Computes the same in the same workspace where the library of the machine does not: a convolution, or a
  /// product with an epilogue that its algorithm lacks. Null for all else.
  std::unique_ptr<KernelSelection> spare;

  bool hasProduct() const { return library.has_value() || product.has_value(); }
};

/// Places matter only in that an operand may lie where the result does.
KernelSelection selectKernels(const Graph& graph, const Computation& computation,
                              const GpuTarget& target = {});

/// Whether the op's product is cuBLASLt's, unless tiles are chosen for it (`tile_matmul.h`).
bool isLibraryProduct(const Graph& graph, OpId op);

bool hasCudaKernel(const Graph& graph, OpId op);

} // namespace dfc::cuda
