// AlignedBuffer: bytes on a 64-byte boundary, owned. Contents start undefined.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace dfc {

class AlignedBuffer {
 public:
  explicit AlignedBuffer(size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t(64)))), bytes_(bytes) {}
  std::byte* data() { return memory_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(64)); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t bytes_;
};

} // namespace dfc
