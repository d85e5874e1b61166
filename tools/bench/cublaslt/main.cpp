// dfc_cublaslt: times one call of cuBLASLt for the work of each row dense_backward of `dfc-bench`: a product
// times the derivative of relu or gelu, and the sum of that over the rows (epilogues DRELU_BGRAD and
// DGELU_BGRAD). Arguments and output are those of baselines/baseline.py, and the sizes: --rows, --columns,
// --inner.
//
// Favourable conditions: relu's mask is given, the fastest of all proposed algorithms is taken, and the calls
// of a sample are one CUDA graph.
#include "tools/bench/result_lines.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dfc::bench {
namespace {

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
  }
}
void check(cublasStatus_t code, const char* what) {
  if (code != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusName(code));
  }
}

struct Sizes {
  int64_t rows = 8192, columns = 2048, inner = 512;
};

struct Arithmetic {
  std::string_view name;
  cudaDataType type;
  cublasComputeType_t compute;
  size_t bytes;
};
constexpr std::array arithmetics = {
    Arithmetic{"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
    Arithmetic{"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4},
    Arithmetic{"f16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2},
    Arithmetic{"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2},
};

struct Release {
  void operator()(void* memory) const { cudaFree(memory); }
};
using Buffer = std::unique_ptr<void, Release>;

Buffer bufferOf(size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "memory of the GPU");
  return Buffer(memory);
}

/// Random numbers of either sign, of magnitude 1/64 to 2.
Buffer noise(size_t count, const Arithmetic& in) {
  const int digits = in.type == CUDA_R_32F ? 23 : in.type == CUDA_R_16F ? 10 : 7;
  const uint32_t one = in.type == CUDA_R_16F ? 15 : 127, sign = in.bytes == 4 ? 31 : 15;
  std::mt19937 random(1);
  std::vector<unsigned char> bytes(count * in.bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t draw = static_cast<uint32_t>(random());
    const uint32_t bits = (draw >> 31) << sign | (one - 6 + (draw >> 24) % 7) << digits |
                          (draw & ((uint32_t{1} << digits) - 1));
    for (size_t b = 0; b < in.bytes; ++b) {
      bytes[i * in.bytes + b] = static_cast<unsigned char>(bits >> (8 * b));
    }
  }
  Buffer buffer = bufferOf(bytes.size());
  check(cudaMemcpy(buffer.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "random numbers");
  return buffer;
}

/// dy [rows, inner] times the transpose of w [columns, inner], times the derivative at h, and the sums of the
/// columns. cuBLASLt is column-major, so w is its first operand.
class Call {
 public:
  Call(cublasLtHandle_t handle, const Sizes& sizes, const Arithmetic& in, bool gelu)
      : handle_(handle), dy_(noise(sizes.rows * sizes.inner, in)), w_(noise(sizes.columns * sizes.inner, in)),
        h_(noise(sizes.rows * sizes.columns, in)), dz_(bufferOf(sizes.rows * sizes.columns * in.bytes)),
        sums_(bufferOf(sizes.columns * in.bytes)), workspace_(bufferOf(workspaceBytes)) {
    check(cublasLtMatmulDescCreate(&description_, in.compute, CUDA_R_32F), "a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, gelu ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_DRELU_BGRAD);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, sums_.get());
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, h_.get()); // relu's mask: its first bits
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, sizes.columns);
    check(cublasLtMatrixLayoutCreate(&wLayout_, in.type, sizes.inner, sizes.columns, sizes.inner), "w");
    check(cublasLtMatrixLayoutCreate(&dyLayout_, in.type, sizes.inner, sizes.rows, sizes.inner), "dy");
    check(cublasLtMatrixLayoutCreate(&dzLayout_, in.type, sizes.columns, sizes.rows, sizes.columns), "dz");
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    cublasLtMatmulDescDestroy(description_);
    for (cublasLtMatrixLayout_t layout : {wLayout_, dyLayout_, dzLayout_}) {
      cublasLtMatrixLayoutDestroy(layout);
    }
  }

  std::vector<cublasLtMatmulAlgo_t> algorithms() const {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "algorithms");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &workspaceBytes, sizeof workspaceBytes),
          "algorithms");
    std::array<cublasLtMatmulHeuristicResult_t, 32> found{};
    int count = 0;
    cublasLtMatmulAlgoGetHeuristic(handle_, description_, wLayout_, dyLayout_, dzLayout_, dzLayout_,
                                   preference, static_cast<int>(found.size()), found.data(), &count);
    cublasLtMatmulPreferenceDestroy(preference);
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i) {
      algorithms.push_back(found[static_cast<size_t>(i)].algo);
    }
    return algorithms;
  }

  bool run(const cublasLtMatmulAlgo_t& algorithm, cudaStream_t stream) const {
    const float one = 1, zero = 0;
    return cublasLtMatmul(handle_, description_, &one, w_.get(), wLayout_, dy_.get(), dyLayout_, &zero,
                          dz_.get(), dzLayout_, dz_.get(), dzLayout_, &algorithm, workspace_.get(),
                          workspaceBytes, stream) == CUBLAS_STATUS_SUCCESS;
  }

 private:
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(description_, attribute, &value, sizeof value), "a product");
  }

  static constexpr uint64_t workspaceBytes = uint64_t{32} << 20;
  cublasLtHandle_t handle_;
  Buffer dy_, w_, h_, dz_, sums_, workspace_;
  cublasLtMatmulDesc_t description_ = nullptr;
  cublasLtMatrixLayout_t wLayout_ = nullptr, dyLayout_ = nullptr, dzLayout_ = nullptr;
};

class Timer {
 public:
  Timer() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    check(cudaEventCreate(&begin_), "an event");
    check(cudaEventCreate(&end_), "an event");
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }

  /// Seconds of one call, a number a sample; none where the call fails.
  std::optional<std::vector<double>> samples(const Call& call, const cublasLtMatmulAlgo_t& algorithm,
                                             uint32_t count) {
    constexpr int calls = 50;
    if (!call.run(algorithm, stream_)) {
      return std::nullopt;
    }
    check(cudaStreamSynchronize(stream_), "a first call");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "a CUDA graph");
    bool ran = true;
    for (int i = 0; i < calls; ++i) {
      ran = call.run(algorithm, stream_) && ran;
    }
    check(cudaStreamEndCapture(stream_, &graph), "a CUDA graph");
    if (!ran) {
      throw std::runtime_error("cuBLASLt refuses in a CUDA graph what it did outside");
    }
    check(cudaGraphInstantiate(&made, graph, 0), "a CUDA graph");
    std::vector<double> seconds;
    for (uint32_t i = 0; i <= count; ++i) { // the first one warms up
      float milliseconds = 0;
      check(cudaEventRecord(begin_, stream_), "a time");
      check(cudaGraphLaunch(made, stream_), "calls");
      check(cudaEventRecord(end_, stream_), "a time");
      check(cudaStreamSynchronize(stream_), "calls");
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "a time");
      if (i > 0) {
        seconds.push_back(1e-3 * milliseconds / calls);
      }
    }
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
    return seconds;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

void measure(const std::string& key, cublasLtHandle_t handle, const Sizes& sizes, const Arithmetic& in,
             bool gelu, uint32_t count) {
  const Call call(handle, sizes, in, gelu);
  Timer timer;
  std::optional<cublasLtMatmulAlgo_t> best;
  double least = 0;
  for (const cublasLtMatmulAlgo_t& algorithm : call.algorithms()) {
    const auto trial = timer.samples(call, algorithm, 3);
    if (trial && (!best || spreadOf(*trial).median < least)) {
      best = algorithm;
      least = spreadOf(*trial).median;
    }
  }
  const std::string program = gelu ? "cuBLASLt DGELU_BGRAD" : "cuBLASLt DRELU_BGRAD";
  if (best) {
    printTime(key, program, spreadOf(*timer.samples(call, *best, count)));
  } else {
    printNotMeasured(key, program, "it has no algorithm");
  }
}

int64_t sizeIn(const std::string& word, const std::string& text) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const bool number = error == std::errc() && end == text.data() + text.size();
  if (!number || size < 128 || size > 65536 || size % 128 != 0) { // relu's mask has columns in 128 bits
    throw std::runtime_error(word + ": '" + text + "' is not a multiple of 128 from 128 to 65536");
  }
  return size;
}

int runAll(int count, char** words) {
  const Request request = requestOf(count, words);
  Sizes sizes;
  for (int i = 1; i + 1 < count; ++i) {
    const std::string word = words[i];
    sizes.rows = word == "--rows" ? sizeIn(word, words[i + 1]) : sizes.rows;
    sizes.columns = word == "--columns" ? sizeIn(word, words[i + 1]) : sizes.columns;
    sizes.inner = word == "--inner" ? sizeIn(word, words[i + 1]) : sizes.inner;
  }
  cublasLtHandle_t handle = nullptr;
  check(cudaSetDevice(0), "the first GPU");
  check(cublasLtCreate(&handle), "cuBLASLt");
  for (const std::string& key : request.keys) {
    for (const bool gelu : {false, true}) {
      for (const Arithmetic& in : arithmetics) {
        if (key == std::string(gelu ? "dense_backward/gelu/" : "dense_backward/relu/").append(in.name)) {
          measure(key, handle, sizes, in, gelu, request.samplesOr(7, 3));
        }
      }
    }
  }
  cublasLtDestroy(handle);
  return 0;
}

} // namespace
} // namespace dfc::bench

int main(int count, char** words) {
  try {
    return dfc::bench::runAll(count, words);
  } catch (const std::exception& error) {
    std::cerr << "dfc_cublaslt: " << error.what() << "\n";
    return 2;
  }
}
