#include "runtime/cuda/library/kernel_library.h"

#include "ir/plan/launch_plan.h"

#include "runtime/available_processors.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/check.h"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <thread>

namespace dfc::cuda {
namespace {

// The text determines every rounding: no contraction into fused multiply-adds, IEEE division and root.
constexpr std::array options = {"--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                "--ftz=false",  "--std=c++17",     "-default-device"};

void checkNvrtc(nvrtcResult code, std::string_view doing) {
  if (code != NVRTC_SUCCESS) {
    throw MachineError(fmt::format("{}: NVRTC answered {}", doing, nvrtcGetErrorString(code)));
  }
}

std::string keyOf(const std::string& text, const std::string& architecture) {
  return kernelKey(
      fmt::format("{}\n{}\n{}\n{}", compilerVersion(), architecture, fmt::join(options, " "), text));
}

struct Program {
  Program(const std::string& text, const std::string& name) {
    checkNvrtc(nvrtcCreateProgram(&handle, text.c_str(), name.c_str(), 0, nullptr, nullptr),
               "opening a kernel's text");
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { nvrtcDestroyProgram(&handle); }
  nvrtcProgram handle = nullptr;
};

std::string logOf(const Program& program) {
  size_t size = 0;
  if (nvrtcGetProgramLogSize(program.handle, &size) != NVRTC_SUCCESS || size == 0) {
    return "";
  }
  std::string log(size, '\0');
  nvrtcGetProgramLog(program.handle, log.data());
  log.erase(std::remove(log.begin(), log.end(), '\0'), log.end());
  return log;
}

/// The kernels that the process has loaded, by key. Never unloaded: later sessions use the same kernels.
struct Loaded {
  std::mutex mutex;
  std::map<std::string, cudaKernel_t> kernels;
};

Loaded& loaded() {
  static auto* const instance = new Loaded; // outlives static destruction, when the driver is gone
  return *instance;
}

cudaKernel_t loadBinary(const std::string& binary, const std::string& entry) {
  cudaLibrary_t library = nullptr;
  dfc::cuda::check(cudaLibraryLoadData(&library, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                   "loading a compiled kernel");
  cudaKernel_t kernel = nullptr;
  dfc::cuda::check(cudaLibraryGetKernel(&kernel, library, entry.c_str()), "finding a compiled kernel");
  return kernel;
}

} // namespace

std::string compileKernels(const std::string& text, const std::string& name,
                           const std::string& architecture) {
  const Program program(text, name);
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> arguments(options.begin(), options.end());
  arguments.push_back(target.c_str());
  const nvrtcResult code =
      nvrtcCompileProgram(program.handle, static_cast<int>(arguments.size()), arguments.data());
  if (code != NVRTC_SUCCESS) {
    throw CompileError(
        fmt::format("NVRTC cannot compile {} for {} ({})", name, architecture, nvrtcGetErrorString(code)),
        logOf(program));
  }
  size_t size = 0;
  checkNvrtc(nvrtcGetCUBINSize(program.handle, &size), "reading a compiled kernel");
  std::string binary(size, '\0');
  checkNvrtc(nvrtcGetCUBIN(program.handle, binary.data()), "reading a compiled kernel");
  return binary;
}

std::string compilerVersion() {
  int major = 0, minor = 0;
  checkNvrtc(::nvrtcVersion(&major, &minor), "asking NVRTC's version");
  return fmt::format("{}.{}", major, minor);
}

std::string architectureOf(int ordinal) {
  int major = 0, minor = 0;
  dfc::cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
                   "asking a GPU's kind");
  dfc::cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal),
                   "asking a GPU's kind");
  int count = 0;
  checkNvrtc(nvrtcGetNumSupportedArchs(&count), "asking NVRTC what it compiles for");
  std::vector<int> known(static_cast<size_t>(count));
  checkNvrtc(nvrtcGetSupportedArchs(known.data()), "asking NVRTC what it compiles for");
  if (std::find(known.begin(), known.end(), major * 10 + minor) == known.end()) {
    throw MachineError(
        fmt::format("GPU {} is of architecture sm_{}{}, which NVRTC {} cannot compile for (it knows "
                    "sm_{}): install the CUDA toolkit that serves this GPU",
                    ordinal, major, minor, compilerVersion(), fmt::join(known, ", sm_")));
  }
  return fmt::format("sm_{}{}", major, minor);
}

KernelLibrary::KernelLibrary(std::filesystem::path cacheFolder) : cache_(std::move(cacheFolder)) {}

std::string KernelLibrary::binaryOf(const std::string& key, const std::string& text, const std::string& name,
                                    const std::string& architecture) const {
  if (auto cached = cache_.find(key)) {
    return *std::move(cached);
  }
  std::string binary = compileKernels(text, name, architecture);
  cache_.store(key, binary);
  return binary;
}

std::vector<cudaKernel_t> KernelLibrary::load(const std::vector<std::string>& texts,
                                              const std::string& architecture) {
  std::vector<std::string> keys;
  std::map<std::string, const std::string*> missing;
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  for (const std::string& text : texts) {
    keys.push_back(keyOf(text, architecture));
    if (all.kernels.count(keys.back()) == 0) {
      missing.emplace(keys.back(), &text);
    }
  }
  const std::vector<std::pair<std::string, const std::string*>> wanted(missing.begin(), missing.end());
  std::vector<std::string> binaries(wanted.size());
  const auto count = static_cast<uint32_t>(wanted.size());
  ThreadPool pool(std::clamp(count, 1U, availableProcessors()));
  pool.run(count, [&](uint32_t i) {
    const auto& [key, text] = wanted[i];
    try {
      binaries[i] = binaryOf(key, *text, "dfc_kernel.cu", architecture);
    } catch (const CompileError& error) {
      throw MachineError(fmt::format("{}\n{}", error.what(), *text)); // a bug of ours
    }
  });
  for (size_t i = 0; i < wanted.size(); ++i) {
    all.kernels.emplace(wanted[i].first, loadBinary(binaries[i], std::string(kernelName)));
  }
  std::vector<cudaKernel_t> kernels;
  kernels.reserve(keys.size());
  for (const std::string& key : keys) {
    kernels.push_back(all.kernels.at(key));
  }
  return kernels;
}

cudaKernel_t KernelLibrary::load(const std::string& text, const std::string& entry,
                                 const std::string& architecture) {
  const std::string key = keyOf(text, architecture), named = key + " " + entry;
  Loaded& all = loaded();
  const std::lock_guard lock(all.mutex);
  const auto found = all.kernels.find(named);
  return found != all.kernels.end()
             ? found->second
             : all.kernels.emplace(named, loadBinary(binaryOf(key, text, entry + ".cu", architecture), entry))
                   .first->second;
}

void allowSharedMemory(cudaKernel_t kernel, uint32_t bytes, int ordinal) {
  if (bytes > 0) {
    dfc::cuda::check(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     static_cast<int>(bytes), ordinal),
                     "asking for a kernel's shared memory");
  }
}

} // namespace dfc::cuda
