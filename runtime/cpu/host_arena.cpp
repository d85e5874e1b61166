// Allocation and bounds of host arenas.
#include "runtime/cpu/host_arena.h"

#include "runtime/host_pages.h"

#include <fmt/format.h>

#include <cstring>

namespace dfc {
HostArena::HostArena(const std::string& device, int64_t bytes, HostDeviceTraits traits)
    : bytes_(bytes), traits_(traits) {
  const auto size = static_cast<size_t>(std::max<int64_t>(bytes, 1));
  base_ = allocatePages(bytes);
  if (base_ == nullptr) {
    throw MachineError(
        fmt::format("{}: the host cannot allocate an arena of {} bytes; use a smaller batch, or a machine "
                    "file with less memory for this device",
                    device, bytes));
  }
  if (traits.filledWithNan) {
    std::memset(base_, 0xFF, size);
  }
}

HostArena::~HostArena() { freePages(base_); }

void HostArena::write(int64_t offset, std::span<const std::byte> bytes) {
  assertInside(offset, bytes.size());
  std::copy(bytes.begin(), bytes.end(), base_ + offset);
  writes_.fetch_add(1, std::memory_order_release);
}

void HostArena::read(int64_t offset, std::span<std::byte> bytes) {
  assertInside(offset, bytes.size());
  std::copy_n(base_ + offset, bytes.size(), bytes.begin());
}

void HostArena::assertInside(int64_t offset, size_t bytes) const {
  DFC_ASSERT(
      offset >= 0 && offset <= bytes_ && static_cast<int64_t>(bytes) <= bytes_ - offset,
      fmt::format("bytes [{}, {}) of an arena of {}", offset, offset + static_cast<int64_t>(bytes), bytes_));
}

} // namespace dfc
