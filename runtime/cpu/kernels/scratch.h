// Scratch memory of kernels: blocks that belong to a thread and only grow, so that a plan of thousands of
// kernels holds no more than its threads need.
#pragma once

#include <cstddef>

namespace dfc {

/// At least `bytes` bytes, aligned to 64, of the calling thread; good until the thread's next call. Contents
/// undefined. Throws MachineError when there is no memory.
std::byte* threadScratch(size_t bytes);

/// A second block, under the same rules: for intermediate results of a kernel that is made of other kernels,
/// while those use the first.
std::byte* threadIntermediate(size_t bytes);

} // namespace dfc
