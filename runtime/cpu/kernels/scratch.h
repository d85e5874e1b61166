// Working memory of kernels: grow-only blocks of a thread, so that a plan of thousands of kernels holds no
// more than its threads need.
#pragma once

#include <cstddef>

namespace dfc {

/// At least `bytes` bytes, aligned to 64, of the calling thread; good until the thread's next call. Contents
/// undefined. Throws MachineError when there is no memory.
std::byte* threadScratch(size_t bytes);

/// A second block, under the same rules: for what a kernel made of others hands from one to the next, while
/// these use the first.
std::byte* threadIntermediate(size_t bytes);

} // namespace dfc
