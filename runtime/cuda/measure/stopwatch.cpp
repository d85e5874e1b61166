#include "runtime/cuda/measure/stopwatch.h"

#include "runtime/cuda/library/kernel_library.h"
#include "runtime/cuda/measure/noise.h"

namespace dfc::cuda {

/// Reads twice the bytes of a GPU's second-level cache.
class CacheFiller {
 public:
  explicit CacheFiller(int ordinal)
      : library_(std::filesystem::path()), kernel_(library_.load({source}, architectureOf(ordinal))[0]),
        bytes_(cacheBytes(ordinal)), values_(noise(ordinal, bytes_)),
        never_(ordinal, sizeof(uint32_t), "a measurement") {}

  void enqueue(cudaStream_t stream) const {
    const std::byte* from = values_.get();
    std::byte* to = never_.get();
    uint64_t count = static_cast<uint64_t>(bytes_) / 16;
    void* arguments[] = {&from, &to, &count};
    check(
        cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3(1024), dim3(256), arguments, 0, stream),
        "filling a cache");
  }

 private:
  static int64_t cacheBytes(int ordinal) {
    int bytes = 0;
    check(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, ordinal), "asking about a GPU");
    return std::max<int64_t>(2 * int64_t{bytes}, 1 << 20);
  }

  // The store, which almost never happens, keeps the reads.
  static constexpr const char* source = R"(
extern "C" __global__ void dfc_kernel(const uint4* from, unsigned* to, unsigned long long count) {
  unsigned folded = 0;
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) {
    const uint4 v = from[i];
    folded ^= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (folded == 0x9e3779b9u) {
    *to = folded;
  }
}
)";

  KernelLibrary library_;
  cudaKernel_t kernel_;
  int64_t bytes_;
  DeviceBuffer values_, never_;
};

Stopwatch::Stopwatch(int ordinal) : ordinal_(ordinal) {
  const OnDevice current(ordinal);
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "opening a stopwatch");
  check(cudaEventCreate(&begin_), "opening a stopwatch");
  check(cudaEventCreate(&end_), "opening a stopwatch");
}

Stopwatch::~Stopwatch() {
  ignore(cudaEventDestroy(begin_));
  ignore(cudaEventDestroy(end_));
  ignore(cudaStreamDestroy(stream_));
}

double Stopwatch::graphSeconds(int count, const std::function<void(cudaStream_t)>& enqueue) {
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

double Stopwatch::perRepetition(const std::function<void(cudaStream_t)>& enqueue) {
  const OnDevice current(ordinal_);
  const double once = median(enqueue);
  constexpr double longEnough = 2e-3;
  return graphSeconds(std::clamp(static_cast<int>(longEnough / once), 1, 1000), enqueue);
}

double Stopwatch::fromMemory(const std::function<void(cudaStream_t)>& enqueue) {
  const OnDevice current(ordinal_);
  if (!filler_) {
    filler_ = std::make_unique<CacheFiller>(ordinal_);
  }
  const double once = median(enqueue);
  constexpr double longEnough = 2e-3;
  const int count = std::clamp(static_cast<int>(longEnough / once), 1, 50); // 50 fillings take as long
  const double both = graphSeconds(count, [&](cudaStream_t stream) {
    filler_->enqueue(stream);
    enqueue(stream);
  });
  return both - graphSeconds(count, [&](cudaStream_t stream) { filler_->enqueue(stream); });
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

double Stopwatch::dependentLaunchCost() {
  const OnDevice current(ordinal_);
  KernelLibrary library{std::filesystem::path()};
  const cudaKernel_t kernel =
      library.load({"extern \"C\" __global__ void dfc_kernel(float* p) { p[threadIdx.x] += 1.0f; }\n"},
                   architectureOf(ordinal_))[0];
  const DeviceBuffer values = noise(ordinal_, 128 * sizeof(float));
  std::byte* pointer = values.get();
  return perRepetition([&](cudaStream_t stream) {
    void* arguments[] = {&pointer};
    check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(128), arguments, 0, stream),
          "timing launches");
  });
}

} // namespace dfc::cuda
