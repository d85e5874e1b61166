// Pools and their gradients through oneDNN, a few planes at a time.
#pragma once

#include "runtime/cpu/kernels/windows/own_pools.h"
#include "runtime/cpu/onednn/api.h"

namespace dfc {

/// A pool or a gradient of floats over [planes, ...], f16 and bf16 widened: as oneDNN makes it, with sums in
/// f32 (which may cancel where those of ours, in f64, do not), but for planes whose operands have a NaN, an
/// infinity or what such sums let overflow: those are `own`'s. `own` itself where oneDNN has nothing or only
/// plain loops (2.6 without AVX-512), for fewer than 16 planes (it takes as many at a time), for planes
/// beyond 2^18 elements (threads had better share one) and windows beyond 2^10 (long sums). Throws
/// MachineError when oneDNN cannot be loaded.
std::unique_ptr<CpuKernel> makeOnednnPool(onednn::PoolRequest::Kind kind, onednn::PoolRequest::Pass pass,
                                          const Windows& windows, const TensorType& image,
                                          std::unique_ptr<OwnPool> own, ThreadPool& pool);

} // namespace dfc
