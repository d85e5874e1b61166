#include "runtime/cuda/stopwatch.h"

#include "runtime/cuda/kernel_library.h"

namespace dfc::cuda {

double Stopwatch::launchCost() {
  const OnDevice current(ordinal_);
  KernelLibrary library{std::filesystem::path()};
  const cudaKernel_t kernel =
      library.load({"extern \"C\" __global__ void dfc_kernel() {}\n"}, architectureOf(ordinal_))[0];
  constexpr int count = 1000;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "timing launches");
  for (int i = 0; i < count; ++i) {
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, stream_),
          "timing launches");
  }
  check(cudaStreamEndCapture(stream_, &graph), "timing launches");
  check(cudaGraphInstantiate(&exec, graph, 0), "timing launches");
  const double seconds =
      median([&](cudaStream_t stream) { check(cudaGraphLaunch(exec, stream), "timing launches"); });
  ignore(cudaGraphExecDestroy(exec));
  ignore(cudaGraphDestroy(graph));
  return seconds / count;
}

} // namespace dfc::cuda
