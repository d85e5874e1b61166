#include "runtime/cuda/kernel_library.h"

#include "ir/atomic_file.h"
#include "runtime/cuda/check.h"

#include <fmt/format.h>
#include <nvrtc.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

namespace dfc::cuda {
namespace {

// Every rounding is one that the text asks for: no contraction into fused multiply-adds, IEEE division and
// root.
constexpr std::array options = {"--fmad=false", "--prec-div=true", "--prec-sqrt=true",
                                "--ftz=false",  "--std=c++17",     "-default-device"};

void check(nvrtcResult code, std::string_view doing) {
  if (code != NVRTC_SUCCESS) {
    throw MachineError(fmt::format("{}: NVRTC answered {}", doing, nvrtcGetErrorString(code)));
  }
}

std::string compilerVersion() {
  int major = 0, minor = 0;
  check(::nvrtcVersion(&major, &minor), "asking NVRTC's version");
  return fmt::format("{}.{}", major, minor);
}

// FNV-1a over two lanes: 128 bits are enough to name files by.
std::string hashOf(const std::string& text) {
  std::array<uint64_t, 2> lanes = {0xcbf29ce484222325ULL, 0x9ae16a3b2f90404fULL};
  for (const char character : text) {
    lanes[0] = (lanes[0] ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
    lanes[1] = (lanes[1] ^ (lanes[0] >> 29)) * 0x9e3779b97f4a7c15ULL + static_cast<unsigned char>(character);
  }
  return fmt::format("{:016x}{:016x}", lanes[0], lanes[1]);
}

std::string keyOf(const std::string& text, const std::string& architecture) {
  return hashOf(
      fmt::format("{}\n{}\n{}\n{}", compilerVersion(), architecture, fmt::join(options, " "), text));
}

struct Program {
  explicit Program(const std::string& text) {
    check(nvrtcCreateProgram(&handle, text.c_str(), "dfc_kernel.cu", 0, nullptr, nullptr),
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
  return log;
}

std::string compile(const std::string& text, const std::string& architecture) {
  const Program program(text);
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> arguments(options.begin(), options.end());
  arguments.push_back(target.c_str());
  const nvrtcResult code =
      nvrtcCompileProgram(program.handle, static_cast<int>(arguments.size()), arguments.data());
  if (code != NVRTC_SUCCESS) {
    throw MachineError(fmt::format("NVRTC cannot compile a generated kernel for {} ({}): {}\n{}",
                                   architecture, nvrtcGetErrorString(code), logOf(program), text));
  }
  size_t size = 0;
  check(nvrtcGetCUBINSize(program.handle, &size), "reading a compiled kernel");
  std::string binary(size, '\0');
  check(nvrtcGetCUBIN(program.handle, binary.data()), "reading a compiled kernel");
  return binary;
}

// A cached file: "dfc-cubin", the checksum of the rest, the rest.
constexpr std::string_view magic = "dfc-cubin\n";

uint32_t checksumOf(std::string_view bytes) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

std::string wrapped(const std::string& binary) {
  const uint32_t sum = checksumOf(binary);
  std::string file(magic);
  file.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return file + binary;
}

std::string unwrapped(const std::string& file, const std::filesystem::path& path) {
  uint32_t sum = 0;
  const size_t header = magic.size() + sizeof sum;
  if (file.size() > header) {
    std::memcpy(&sum, file.data() + magic.size(), sizeof sum);
    std::string binary = file.substr(header);
    if (file.compare(0, magic.size(), magic) == 0 && checksumOf(binary) == sum) {
      return binary;
    }
  }
  throw MachineError(
      fmt::format("the cached kernel {} is corrupt (its checksum does not fit): delete it, or the "
                  "whole folder; it is made again at the next run",
                  path.string()));
}

void store(const std::filesystem::path& path, const std::string& binary) {
  const std::string file = wrapped(binary);
  const Status written = writeFileAtomically(path.string(), file);
  if (!written.ok()) {
    throw MachineError(
        fmt::format("the kernel cache {} cannot be written: {}; make the folder writable, or choose "
                    "another with --kernel-cache=FOLDER, or none with --no-kernel-cache",
                    path.parent_path().string(), written.errors()[0].message));
  }
}

/// What the process has loaded, by key. Never unloaded: sessions come and go with the same kernels.
struct Loaded {
  std::mutex mutex;
  std::map<std::string, cudaKernel_t> kernels;
};

Loaded& loaded() {
  static auto* const instance = new Loaded; // outlives static destruction, when the driver is gone
  return *instance;
}

cudaKernel_t loadBinary(const std::string& binary) {
  cudaLibrary_t library = nullptr;
  dfc::cuda::check(cudaLibraryLoadData(&library, binary.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                   "loading a compiled kernel");
  cudaKernel_t kernel = nullptr;
  dfc::cuda::check(cudaLibraryGetKernel(&kernel, library, "dfc_kernel"), "finding a compiled kernel");
  return kernel;
}

/// `work(i)` for each i below count, on as many threads as help; the first exception goes on.
template <class Work>
void inParallel(size_t count, const Work& work) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = error ? error : std::current_exception();
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min<size_t>(count, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back(run);
  }
  run();
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

} // namespace

std::string architectureOf(int ordinal) {
  int major = 0, minor = 0;
  dfc::cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
                   "asking a GPU's kind");
  dfc::cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal),
                   "asking a GPU's kind");
  int count = 0;
  check(nvrtcGetNumSupportedArchs(&count), "asking NVRTC what it compiles for");
  std::vector<int> known(static_cast<size_t>(count));
  check(nvrtcGetSupportedArchs(known.data()), "asking NVRTC what it compiles for");
  if (std::find(known.begin(), known.end(), major * 10 + minor) == known.end()) {
    throw MachineError(
        fmt::format("GPU {} is of architecture sm_{}{}, which NVRTC {} cannot compile for (it knows "
                    "sm_{}): install the CUDA toolkit that serves this GPU",
                    ordinal, major, minor, compilerVersion(), fmt::join(known, ", sm_")));
  }
  return fmt::format("sm_{}{}", major, minor);
}

KernelLibrary::KernelLibrary(std::filesystem::path cacheFolder) : cacheFolder_(std::move(cacheFolder)) {
  std::error_code error;
  if (!cacheFolder_.empty() && !std::filesystem::create_directories(cacheFolder_, error) && error) {
    throw MachineError(fmt::format("the kernel cache {} cannot be made: {}; choose another with "
                                   "--kernel-cache=FOLDER, or none with --no-kernel-cache",
                                   cacheFolder_.string(), error.message()));
  }
}

std::string KernelLibrary::compiled(const std::string& text, const std::string& architecture) const {
  if (cacheFolder_.empty()) {
    return compile(text, architecture);
  }
  const std::filesystem::path path = cacheFolder_ / (keyOf(text, architecture) + ".cubin");
  if (std::ifstream file(path, std::ios::binary); file) {
    return unwrapped(std::string(std::istreambuf_iterator<char>(file), {}), path);
  }
  std::string binary = compile(text, architecture);
  store(path, binary);
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
  inParallel(wanted.size(), [&](size_t i) { binaries[i] = compiled(*wanted[i].second, architecture); });
  for (size_t i = 0; i < wanted.size(); ++i) {
    all.kernels.emplace(wanted[i].first, loadBinary(binaries[i]));
  }
  std::vector<cudaKernel_t> kernels;
  for (const std::string& key : keys) {
    kernels.push_back(all.kernels.at(key));
  }
  return kernels;
}

} // namespace dfc::cuda
