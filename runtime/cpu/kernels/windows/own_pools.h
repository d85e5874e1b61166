// Pools of our own and their gradients: of any type, with what a NaN, a tie, a long or a large sum needs.
// Results side by side are worked on together, in vectors. Means, and the sums that gradients are, are
// carried in f64 and rounded once; f16 and bf16 maxima are found in f32. Of equals the first is the maximum.
#pragma once

#include "ir/graph/rules/windows.h"
#include "runtime/cpu/kernels/kernel.h"

namespace dfc {

class OwnPool : public CpuKernel {
 public:
  /// One plane of what run() makes.
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
