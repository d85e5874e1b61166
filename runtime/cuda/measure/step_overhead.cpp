#include "runtime/cuda/measure/step_overhead.h"

#include "runtime/cuda/measure/stopwatch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream/signals.h"

#include <algorithm>

namespace dfc::cuda {
namespace {

constexpr int launches = 50; ///< back to back, as steps are submitted

/// A step of a session with one queue and one empty kernel.
class EmptyStep {
 public:
  explicit EmptyStep(int ordinal)
      : library_(std::filesystem::path()), counter_(64), word_(64),
        own_(ordinal, sizeof(uint64_t), "a step's number"),
        signals_(library_, architectureOf(ordinal), reinterpret_cast<uint64_t*>(counter_.get())),
        kernel_(
            library_.load({"extern \"C\" __global__ void dfc_kernel() {}\n"}, architectureOf(ordinal))[0]) {
    try {
      check(cudaMemset(own_.get(), 0, sizeof(uint64_t)), "timing a step");
      open();
      capture();
    } catch (...) {
      close();
      throw;
    }
  }
  EmptyStep(const EmptyStep&) = delete;
  EmptyStep& operator=(const EmptyStep&) = delete;
  ~EmptyStep() { close(); }

  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(exec_, stream), "timing a step"); }

 private:
  void open() {
    for (cudaStream_t* stream : {&origin_, &stream_}) {
      check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "timing a step");
    }
    for (cudaEvent_t* event : {&forked_, &joined_}) {
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "timing a step");
    }
  }

  void capture() {
    check(cudaStreamBeginCapture(origin_, cudaStreamCaptureModeRelaxed), "timing a step");
    check(cudaEventRecord(forked_, origin_), "timing a step");
    check(cudaStreamWaitEvent(stream_, forked_, 0), "timing a step");
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(1), dim3(1), nullptr, 0, stream_),
          "timing a step");
    const DevicePublication end{reinterpret_cast<uint64_t*>(word_.get()), 1, 0};
    signals_.endStep(stream_, reinterpret_cast<uint64_t*>(own_.get()), end, true);
    check(cudaEventRecord(joined_, stream_), "timing a step");
    check(cudaStreamWaitEvent(origin_, joined_, 0), "timing a step");
    check(cudaStreamEndCapture(origin_, &graph_), "timing a step");
    check(cudaGraphInstantiate(&exec_, graph_, 0), "timing a step");
  }

  void close() const {
    for (cudaStream_t stream : {origin_, stream_}) {
      ignore(stream != nullptr ? cudaStreamDestroy(stream) : cudaSuccess);
    }
    for (cudaEvent_t event : {forked_, joined_}) {
      ignore(event != nullptr ? cudaEventDestroy(event) : cudaSuccess);
    }
    ignore(exec_ != nullptr ? cudaGraphExecDestroy(exec_) : cudaSuccess);
    ignore(graph_ != nullptr ? cudaGraphDestroy(graph_) : cudaSuccess);
  }

  KernelLibrary library_;
  PinnedBuffer counter_, word_;
  DeviceBuffer own_;
  Signals signals_;
  cudaKernel_t kernel_;
  cudaStream_t origin_ = nullptr, stream_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

} // namespace

double stepOverhead(int ordinal, double kernelSeconds) {
  const OnDevice current(ordinal);
  const EmptyStep step(ordinal);
  Stopwatch watch(ordinal); // gone before the step: every launch has ended
  const double seconds = watch.median([&](cudaStream_t stream) {
    for (int i = 0; i < launches; ++i) {
      step.launch(stream);
    }
  });
  return std::max(0.0, seconds / launches - kernelSeconds);
}

} // namespace dfc::cuda
