// Working memory of kernels: one grow-only block a thread, so that a plan of thousands of kernels holds no
// more than its threads need.
#pragma once

#include <cstddef>

namespace dfc {

/// At least `bytes` bytes, aligned to 64, of the calling thread; good until the thread's next call. Contents
/// undefined. Throws MachineError when there is no memory.
std::byte* threadScratch(size_t bytes);

} // namespace dfc
