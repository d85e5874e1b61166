// Buffers that come back by the deleter of their last owner.
#include "runtime/buffer_pool.h"

#include "runtime/errors.h"
#include "runtime/host_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace dfc {
BufferPool::~BufferPool() {
  for (std::byte* buffer : free_) {
    freePages(buffer);
  }
}

std::shared_ptr<std::byte> BufferPool::take() {
  std::byte* buffer = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      buffer = free_.back();
      free_.pop_back();
    }
  }
  if (buffer == nullptr) {
    buffer = allocatePages(bytes_);
  }
  if (buffer == nullptr) {
    throw MachineError(
        fmt::format("the host has no {} bytes for a fetched value; let go of earlier results", bytes_));
  }
  return {buffer, [pool = weak_from_this()](std::byte* returned) {
            if (const auto alive = pool.lock()) {
              alive->giveBack(returned);
            } else {
              freePages(returned);
            }
          }};
}

void BufferPool::giveBack(std::byte* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

} // namespace dfc
