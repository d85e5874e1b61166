// Pools and their gradients through oneDNN, a few planes at a time.
#pragma once

#include "runtime/cpu/kernels/windows/own_pools.h"
#include "runtime/cpu/onednn/api.h"

namespace dfc {

/// A pool or a gradient of floats over [planes, ...], f16 and bf16 widened: as oneDNN makes it, but for
/// planes whose operands have a NaN, an infinity or what its sums, in f32, let overflow: those are `own`'s.
/// `own` itself where oneDNN has nothing for it, or where it would be slower or less exact by far: few planes
/// (it takes 16 at a time), planes beyond a cache (of which threads had better share one), long sums. Throws
/// MachineError when oneDNN cannot be loaded.
std::unique_ptr<CpuKernel> makeOnednnPool(onednn::PoolRequest::Kind kind, onednn::PoolRequest::Pass pass,
                                          const Windows& windows, const TensorType& image,
                                          std::unique_ptr<OwnPool> own, ThreadPool& pool);

} // namespace dfc
