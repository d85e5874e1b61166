// Our own pools and their gradients: for every type, with NaN, ties and long or large sums as the ops define
// them. SIMD vectors hold adjacent results. Sums are accumulated in f64 and rounded once; maxima of f16 and
// bf16 are taken in f32. Of equal elements the first is the maximum.
#pragma once

#include "ir/graph/rules/windows.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

class OwnPool : public CpuKernel {
 public:
  /// One plane of the result of run().
  virtual void runPlane(llvm::ArrayRef<const std::byte*> operands, std::byte* result, int64_t plane) = 0;
};

/// Of every type but bool.
std::unique_ptr<OwnPool> makeOwnMaxPool(const Windows& windows, const TensorType& image, ThreadPool& pool);
/// The others: of floats.
std::unique_ptr<OwnPool> makeOwnAveragePool(const Windows& windows, bool countPadding,
                                            const TensorType& image, ThreadPool& pool);
std::unique_ptr<OwnPool> makeOwnMaxPoolGradient(const Windows& windows, const TensorType& image,
                                                ThreadPool& pool);
std::unique_ptr<OwnPool> makeOwnAveragePoolGradient(const Windows& windows, bool countPadding,
                                                    const TensorType& image, ThreadPool& pool);

} // namespace dfc
