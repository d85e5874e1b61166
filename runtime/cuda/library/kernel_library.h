// Compiles CUDA C++ text to kernels: NVRTC compiles for the device's own architecture, a cache on disk
// (kernels/kernel_cache.h) keeps the binaries under a hash of text, options, architecture and NVRTC's
// version, and the process keeps the loaded kernels.
#pragma once

#include "runtime/cuda/library/kernel_cache.h"

#include "runtime/errors.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

namespace dfc::cuda {

/// "sm_90" of the device. Throws MachineError when NVRTC here cannot compile for it.
std::string architectureOf(int ordinal);

/// NVRTC's version, which is the CUDA toolkit's: "13.0". Throws MachineError.
std::string compilerVersion();

/// A text that NVRTC does not compile.
class CompileError : public MachineError {
 public:
  CompileError(const std::string& message, std::string log)
      : MachineError(fmt::format("{}: {}", message, log)), log_(std::move(log)) {}
  /// What the compiler says.
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

/// The binary of a translation unit, which the log calls `name`, for an architecture ("sm_90"); asks no GPU.
/// Throws CompileError.
std::string compileKernels(const std::string& text, const std::string& name, const std::string& architecture);

class KernelLibrary {
 public:
  /// `cacheFolder`: where compiled kernels are kept; empty for nowhere. Throws MachineError.
  explicit KernelLibrary(std::filesystem::path cacheFolder);

  /// The kernels named `dfc_kernel` of the translation units, in order; equal texts give the same kernel.
  /// Kernels that are neither loaded nor cached are compiled, several at once. Throws MachineError: a cache
  /// that cannot be written or is corrupt; a text that does not compile (a bug of ours: the message carries
  /// the log).
  std::vector<cudaKernel_t> load(const std::vector<std::string>& texts, const std::string& architecture);
  /// The kernel `entry` of an author's translation unit. Throws CompileError where it does not compile, and
  /// MachineError as `load`.
  cudaKernel_t load(const std::string& text, const std::string& entry, const std::string& architecture);

 private:
  std::string binaryOf(const std::string& key, const std::string& text, const std::string& name,
                       const std::string& architecture) const;
  KernelCache cache_;
};

/// Lets launches of the kernel ask for so much shared memory on a GPU; before the first that does. Throws
/// MachineError: a GPU that has less.
void allowSharedMemory(cudaKernel_t kernel, uint32_t bytes, int ordinal);

} // namespace dfc::cuda
