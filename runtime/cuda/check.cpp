#include "runtime/cuda/check.h"

#include <fmt/format.h>

namespace dfc::cuda {
namespace {

std::string_view wayOut(cudaError_t code) {
  switch (code) {
  case cudaErrorMemoryAllocation:
    return "; the GPU is out of memory: use a smaller batch, a machine file with less memory for this GPU, "
           "or "
           "end other programs on it (nvidia-smi lists them)";
  case cudaErrorInsufficientDriver:
  case cudaErrorNoDevice:
    return "; install an NVIDIA driver that serves CUDA 13 (580 or newer), or run with --backend "
           "gpu=emulated";
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchFailure:
  case cudaErrorMisalignedAddress:
    return "; a kernel broke this process's GPU context: start the program again, and report the graph as a "
           "bug";
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorInvalidDeviceFunction:
  case cudaErrorInvalidKernelImage:
    return "; a kernel was built for another architecture: empty the kernel cache, so that it is built anew";
  default: return "";
  }
}

} // namespace

void check(cudaError_t code, std::string_view doing) {
  if (code != cudaSuccess) {
    ignore(cudaGetLastError()); // a code that is not sticky must not come back at the next call
    throw MachineError(
        fmt::format("{}: {} ({}){}", doing, cudaGetErrorString(code), cudaGetErrorName(code), wayOut(code)));
  }
}

void check(cublasStatus_t code, std::string_view doing) {
  if (code != CUBLAS_STATUS_SUCCESS) {
    throw MachineError(fmt::format("{}: cuBLASLt answered {}", doing, cublasLtGetStatusName(code)));
  }
}

} // namespace dfc::cuda
