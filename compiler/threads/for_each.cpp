#include "compiler/threads/for_each.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <vector>

namespace dfc {
namespace {

constexpr unsigned mostThreads = 8; // each trial has graphs of its own

} // namespace

void forEach(size_t count, llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next = 0;
  const auto some = [&] {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  const size_t threads = std::min<size_t>(std::min(std::thread::hardware_concurrency(), mostThreads), count);
  std::vector<std::future<void>> others;
  for (size_t i = 1; i < threads; ++i) {
    others.push_back(std::async(std::launch::async, some));
  }
  some();
  for (std::future<void>& other : others) {
    other.get();
  }
}

} // namespace dfc
