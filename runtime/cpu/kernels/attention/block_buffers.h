// BlockBuffers: the parts of a thread's scratch that a block of attention computes in.
#pragma once

#include "runtime/cpu/kernels/scratch.h"

#include <cstdint>

namespace dfc {

/// A bump allocator over one block of scratch, 64-byte aligned. Default-constructed it allocates nothing and
/// only counts bytes (`used`); constructed with memory it returns pointers.
class BlockBuffers {
 public:
  BlockBuffers() = default; ///< adds up
  explicit BlockBuffers(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(int64_t elements) {
    return reinterpret_cast<T*>(takeBytes(static_cast<size_t>(elements) * sizeof(T)));
  }
  std::byte* takeBytes(size_t bytes) {
    std::byte* const piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (bytes + 63) / 64 * 64;
    return piece;
  }
  size_t used() const { return used_; }

 private:
  std::byte* memory_ = nullptr;
  size_t used_ = 0;
};

} // namespace dfc
