// Kernels of sums without terms: a result of zeros.
#pragma once

#include "runtime/cpu/kernels/kernel.h"

#include <cstring>

namespace dfc {

class ZeroKernel final : public CpuKernel {
 public:
  explicit ZeroKernel(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {}
  void run(llvm::ArrayRef<const std::byte*>, llvm::ArrayRef<std::byte*> results) override {
    if (bytes_ != 0) {
      std::memset(results[0], 0, bytes_);
    }
  }

 private:
  size_t bytes_;
};

} // namespace dfc
