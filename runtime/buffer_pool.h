// BufferPool: the host buffers that fetched values are written to. A buffer belongs to the caller's literals
// until the last of them is gone, then it is used again; so results are never copied on the way out, and
// memory stays flat as long as the caller lets go of old results.
#pragma once

#include "ir/graph/tensor_type.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace dfc {

class BufferPool : public std::enable_shared_from_this<BufferPool> {
 public:
  /// Of `bytes` each, in whole pages.
  static std::shared_ptr<BufferPool> make(int64_t bytes) {
    return std::shared_ptr<BufferPool>(new BufferPool(bytes));
  }
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// Goes back to the pool, or is freed when the pool is gone. Throws MachineError when the host is out of
  /// memory.
  std::shared_ptr<std::byte> take();

 private:
  explicit BufferPool(int64_t bytes) : bytes_(bytes) {}
  void giveBack(std::byte* buffer);

  int64_t bytes_;
  std::mutex mutex_;
  std::vector<std::byte*> free_; // guarded by mutex_
};

} // namespace dfc
