#include "runtime/cpu/kernels/scratch.h"

#include "runtime/errors.h"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>

namespace dfc {
namespace {

struct Free {
  void operator()(std::byte* block) const { std::free(block); }
};

struct Block {
  std::unique_ptr<std::byte, Free> memory;
  size_t bytes = 0;
};

std::byte* grown(Block& block, size_t bytes) {
  if (block.bytes < bytes) {
    const size_t rounded = (bytes + 4095) / 4096 * 4096;
    block = {};
    block.memory.reset(static_cast<std::byte*>(std::aligned_alloc(64, rounded)));
    if (!block.memory) {
      throw MachineError(fmt::format("out of memory: a cpu kernel needs {} bytes to work in", rounded));
    }
    block.bytes = rounded;
  }
  return block.memory.get();
}

} // namespace

std::byte* threadScratch(size_t bytes) {
  thread_local Block block;
  return grown(block, bytes);
}

std::byte* threadIntermediate(size_t bytes) {
  thread_local Block block;
  return grown(block, bytes);
}

} // namespace dfc
