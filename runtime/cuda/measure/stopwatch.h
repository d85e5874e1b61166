// Times work on a stream by events: warm-up, then the median of several runs.
#pragma once

#include "runtime/cuda/check.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

namespace dfc::cuda {

class CacheFiller;

class Stopwatch {
 public:
  explicit Stopwatch(int ordinal);
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  /// Seconds of `enqueue(stream)`, the median of 7 after 2 that do not count.
  template <class Enqueue>
  double median(const Enqueue& enqueue) {
    const OnDevice current(ordinal_);
    std::array<double, 9> seconds{};
    for (double& one : seconds) {
      check(cudaEventRecord(begin_, stream_), "timing");
      enqueue(stream_);
      check(cudaEventRecord(end_, stream_), "timing");
      check(cudaEventSynchronize(end_), "timing");
      float milliseconds = 0;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
      one = milliseconds * 1e-3;
    }
    std::sort(seconds.begin() + 2, seconds.end());
    return seconds[5];
  }

  /// Seconds of a copy between any two places that CUDA knows, `median`.
  double copySeconds(std::byte* to, const std::byte* from, int64_t bytes) {
    return median([&](cudaStream_t stream) {
      check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, stream),
            "a measured copy");
    });
  }
  /// Seconds of one `enqueue(stream)` among many, one after another in a CUDA graph.
  double perRepetition(const std::function<void(cudaStream_t)>& enqueue);
  /// The same with operands and result out of the GPU's cache: before each, the cache is filled with other
  /// bytes, whose reading is measured apart and subtracted.
  double fromMemory(const std::function<void(cudaStream_t)>& enqueue);
  /// Seconds a kernel of one thread takes among many that depend on one another in a CUDA graph.
  double launchCost();
  /// Seconds of a kernel of one block that reads what the one before wrote, and writes it anew.
  double dependentLaunchCost();

 private:
  double graphSeconds(int count, const std::function<void(cudaStream_t)>& enqueue);

  int ordinal_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::unique_ptr<CacheFiller> filler_; ///< made by the first `fromMemory`
};

} // namespace dfc::cuda
