// Buffers that come back by the deleter of their last owner.
#include "runtime/buffer_pool.h"

#include "runtime/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

namespace dfc {
namespace {

constexpr std::align_val_t alignment{64};

} // namespace

BufferPool::~BufferPool() {
  for (std::byte* buffer : free_) {
    ::operator delete(buffer, alignment);
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
    const auto size = static_cast<size_t>(std::max<int64_t>(bytes_, 1));
    buffer = static_cast<std::byte*>(::operator new(size, alignment, std::nothrow));
  }
  if (buffer == nullptr) {
    throw MachineError(
        fmt::format("the host has no {} bytes for a fetched value; let go of earlier results", bytes_));
  }
  return {buffer, [pool = weak_from_this()](std::byte* returned) {
            if (const auto alive = pool.lock()) {
              alive->giveBack(returned);
            } else {
              ::operator delete(returned, alignment);
            }
          }};
}

void BufferPool::giveBack(std::byte* buffer) {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

} // namespace dfc
