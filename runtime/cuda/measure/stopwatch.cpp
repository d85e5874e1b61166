#include "runtime/cuda/measure/stopwatch.h"

#include "runtime/cuda/library/kernel_library.h"

namespace dfc::cuda {

double Stopwatch::perRepetition(const std::function<void(cudaStream_t)>& enqueue) {
  const OnDevice current(ordinal_);
  const double once = median(enqueue);
  constexpr double longEnough = 2e-3;
  const int count = std::clamp(static_cast<int>(longEnough / once), 1, 1000);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "timing repetitions");
  for (int i = 0; i < count; ++i) {
    enqueue(stream_);
  }
  check(cudaStreamEndCapture(stream_, &graph), "timing repetitions");
  check(cudaGraphInstantiate(&exec, graph, 0), "timing repetitions");
  const double seconds =
      median([&](cudaStream_t stream) { check(cudaGraphLaunch(exec, stream), "timing repetitions"); });
  ignore(cudaGraphExecDestroy(exec));
  ignore(cudaGraphDestroy(graph));
  return seconds / count;
}

double Stopwatch::launchCost() {
  const OnDevice current(ordinal_);
  KernelLibrary library{std::filesystem::path()};
  const cudaKernel_t kernel =
      library.load({"extern \"C\" __global__ void dfc_kernel() {}\n"}, architectureOf(ordinal_))[0];
  return perRepetition([&](cudaStream_t stream) {
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, stream),
          "timing launches");
  });
}

} // namespace dfc::cuda
