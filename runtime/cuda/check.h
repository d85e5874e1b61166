// Every return code of CUDA, cuBLASLt and NVRTC goes through one of these; a code that is not success becomes
// a MachineError with the action that failed, the library's name of the error and, for common errors, the way
// out. Callers that know the op and the queue add their names (`located` in stream/stream_program.h).
#pragma once

#include "runtime/errors.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string_view>

namespace dfc::cuda {

void check(cudaError_t code, std::string_view doing);
void check(cublasStatus_t code, std::string_view doing);

/// For destructors and clean-up, which cannot report errors: the code is dropped.
inline void ignore(cudaError_t /*code*/) {}

/// Makes a device the thread's current one and puts the old one back.
class OnDevice {
 public:
  explicit OnDevice(int ordinal) {
    ignore(cudaGetDevice(&before_));
    check(cudaSetDevice(ordinal), "making a GPU current");
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { ignore(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

} // namespace dfc::cuda
