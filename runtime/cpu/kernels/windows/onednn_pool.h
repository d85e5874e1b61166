// Pools and their gradients through oneDNN, a few planes at a time.
#pragma once

#include "runtime/cpu/kernels/windows/own_pools.h"
#include "runtime/cpu/onednn/api.h"

namespace dfc {

/// A pool or a gradient of floats over [planes, ...], f16 and bf16 widened, by oneDNN, with sums in f32.
/// `own` computes the planes whose operands have a NaN, an infinity or numbers that may overflow such sums.
/// `own` is returned where oneDNN has nothing or only plain loops, for fewer planes than oneDNN computes at a
/// time, for planes so large that threads should share one, and for windows so long that sums in f32 would be
/// inaccurate. Throws MachineError when oneDNN cannot be loaded.
std::unique_ptr<CpuKernel> makeOnednnPool(onednn::PoolRequest::Kind kind, onednn::PoolRequest::Pass pass,
                                          const Windows& windows, const TensorType& image,
                                          std::unique_ptr<OwnPool> own, ThreadPool& pool);

} // namespace dfc
