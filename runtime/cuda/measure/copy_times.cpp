#include "runtime/cuda/measure/copy_times.h"

#include "runtime/cuda/measure/noise.h"
#include "runtime/cuda/measure/stopwatch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/peers.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

/// Memory at one end of a copy.
class EndMemory {
 public:
  EndMemory(CopyEnd end, int64_t bytes) {
    if (end) {
      device_ = noise(*end, bytes);
    } else {
      host_ = PinnedBuffer(bytes);
    }
  }
  std::byte* get() const { return device_.get() != nullptr ? device_.get() : host_.get(); }

 private:
  DeviceBuffer device_;
  PinnedBuffer host_;
};

} // namespace

std::vector<double> copyTimes(CopyEnd from, CopyEnd to, llvm::ArrayRef<int64_t> bytes) {
  if (!from && !to) {
    return {};
  }
  KernelLibrary library(""); // no cache: the check's kernel is small
  if (from && to && !Peers({*from, *to}, library).direct(*from, *to)) {
    return {};
  }
  const int64_t most = *std::max_element(bytes.begin(), bytes.end());
  const EndMemory source(from, most), target(to, most);
  Stopwatch watch(from ? *from : *to);
  std::vector<double> seconds;
  for (const int64_t size : bytes) {
    seconds.push_back(watch.copySeconds(target.get(), source.get(), size));
  }
  return seconds;
}

} // namespace dfc::cuda
