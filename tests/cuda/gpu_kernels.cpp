#include "tests/cuda/gpu_kernels.h"

#include "compiler/lower/kernels/kernel_text.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/library/kernel_library.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

namespace dfc::test {
namespace {

constexpr size_t margin = 256; // bytes after a result that must stay as they are
constexpr int pattern = 0xCD;

int attribute(cudaDeviceAttr which) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, which, 0), "asking about a GPU");
  return value;
}

} // namespace

/// Device memory, a pattern at first.
class GpuKernels::Memory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {
    cuda::check(cudaMalloc(&at_, bytes + margin), "a test's memory");
    cuda::check(cudaMemset(at_, pattern, bytes + margin), "filling a test's memory");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { cuda::ignore(cudaFree(at_)); }

  void* at() const { return at_; }
  void write(std::span<const std::byte> from) {
    cuda::check(cudaMemcpy(at_, from.data(), from.size(), cudaMemcpyHostToDevice), "a test's operands");
  }
  Literal read(const TensorType& type, bool& sound) const {
    std::vector<unsigned char> all(bytes_ + margin);
    cuda::check(cudaMemcpy(all.data(), at_, all.size(), cudaMemcpyDeviceToHost), "a test's results");
    sound = sound && std::all_of(all.begin() + static_cast<ptrdiff_t>(bytes_), all.end(),
                                 [](unsigned char byte) { return byte == pattern; });
    Literal literal(type);
    std::memcpy(literal.mutableBytes().data(), all.data(), bytes_);
    return literal;
  }

 private:
  size_t bytes_;
  void* at_ = nullptr;
};

struct GpuKernels::Buffers {
  Buffers(const cuda::GeneratedKernels& work, const std::vector<Literal>& operandValues,
          const std::vector<TensorType>& resultTypes)
      : workspace(static_cast<size_t>(work.workspaceBytes)) {
    for (const Literal& operand : operandValues) {
      operands.push_back(std::make_unique<Memory>(operand.bytes().size()));
      operands.back()->write(operand.bytes());
    }
    for (const TensorType& result : resultTypes) {
      results.push_back(std::make_unique<Memory>(static_cast<size_t>(result.bytes())));
    }
  }
  void* at(const cuda::Argument& argument) const {
    switch (argument.from) {
    case cuda::Argument::From::Operand: return operands[argument.index]->at();
    case cuda::Argument::From::Result: return results[argument.index]->at();
    case cuda::Argument::From::Workspace: break;
    }
    return static_cast<std::byte*>(workspace.at()) + argument.offset;
  }
  std::vector<std::unique_ptr<Memory>> operands, results;
  Memory workspace;
};

std::string GpuKernels::unavailable() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  return code != cudaSuccess ? cudaGetErrorString(code) : count == 0 ? "this host has no GPU" : "";
}

GpuShape GpuKernels::shape() {
  return {attribute(cudaDevAttrMultiProcessorCount), attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
          attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)};
}

std::string GpuKernels::model() {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, 0), "asking about a GPU");
  return properties.name;
}

size_t GpuKernels::add(cuda::GeneratedKernels work) {
  works_.push_back(std::move(work));
  return works_.size() - 1;
}

void GpuKernels::build() {
  cuda::KernelLibrary library("");
  std::vector<std::string> texts;
  for (const cuda::GeneratedKernels& work : works_) {
    for (const cuda::GeneratedLaunch& launch : work.launches) {
      texts.push_back(std::string(cuda::prelude()) + cuda::kernelText(launch));
    }
  }
  const std::vector<cudaKernel_t> loaded = library.load(texts, cuda::architectureOf(0));
  kernels_.clear();
  size_t next = 0;
  for (const cuda::GeneratedKernels& work : works_) {
    auto& kernels = kernels_.emplace_back();
    for (const cuda::GeneratedLaunch& launch : work.launches) {
      cuda::allowSharedMemory(loaded[next], launch.dynamicSharedBytes(), 0);
      kernels.push_back(loaded[next++]);
    }
  }
}

void GpuKernels::launchAll(size_t number, const Buffers& buffers) const {
  for (size_t l = 0; l < works_[number].launches.size(); ++l) {
    const cuda::GeneratedLaunch& launch = works_[number].launches[l];
    std::vector<void*> pointers, arguments;
    for (const cuda::Argument& argument : launch.arguments) {
      pointers.push_back(buffers.at(argument));
    }
    for (void*& pointer : pointers) {
      arguments.push_back(&pointer);
    }
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(launch.grid[0], launch.grid[1]);
    config.blockDim = dim3(launch.threads);
    config.dynamicSmemBytes = launch.dynamicSharedBytes();
    cuda::check(cudaLaunchKernelExC(&config, kernels_[number][l], arguments.data()), "a test's kernel");
  }
}

std::vector<Literal> GpuKernels::run(size_t number, const std::vector<Literal>& operands,
                                     const std::vector<TensorType>& results, std::string& problem) {
  const Buffers buffers(works_[number], operands, results);
  launchAll(number, buffers);
  cuda::check(cudaDeviceSynchronize(), "running a test's kernels");
  std::vector<Literal> made;
  bool sound = true;
  for (size_t i = 0; i < results.size(); ++i) {
    made.push_back(buffers.results[i]->read(results[i], sound));
  }
  problem = sound ? "" : "a write beyond the end";
  return made;
}

double GpuKernels::microseconds(size_t number, const std::vector<Literal>& operands,
                                const std::vector<TensorType>& results) {
  const Buffers buffers(works_[number], operands, results);
  cudaEvent_t begin = nullptr, end = nullptr;
  cuda::check(cudaEventCreate(&begin), "timing");
  cuda::check(cudaEventCreate(&end), "timing");
  constexpr int warmUps = 5, turns = 40;
  for (int turn = 0; turn < warmUps; ++turn) {
    launchAll(number, buffers);
  }
  cuda::check(cudaEventRecord(begin), "timing");
  for (int turn = 0; turn < turns; ++turn) {
    launchAll(number, buffers);
  }
  cuda::check(cudaEventRecord(end), "timing");
  cuda::check(cudaEventSynchronize(end), "timing");
  float milliseconds = 0;
  cuda::check(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
  cuda::ignore(cudaEventDestroy(begin));
  cuda::ignore(cudaEventDestroy(end));
  return milliseconds * 1e3 / turns;
}

} // namespace dfc::test
