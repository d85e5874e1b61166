// Peer access: which GPUs of a session may copy to one another directly, and read one another's memory in
// kernels. It is enabled pair by pair and then checked with real bytes, in a copy and in a kernel, since it
// can be granted and still corrupt data (NVIDIA/open-gpu-kernel-modules#1257: IOMMUs and virtual machines).
#pragma once

#include "runtime/cuda/library/kernel_library.h"

#include <string>
#include <vector>

namespace dfc::cuda {

class Peers {
 public:
  /// Enables and checks every ordered pair of the distinct GPUs; none where peer access is not `wanted`.
  /// `library`: compiles the kernel that reads. Throws MachineError.
  Peers(const std::vector<int>& ordinals, KernelLibrary& library, bool wanted = true);
  /// Whether bytes of `from` may be copied straight to `to`, and kernels of `from` may read `to`'s memory.
  bool direct(int from, int to) const;
  /// "no peer access to GPU 1: …", for each pair that goes through the host; for people to read.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::pair<int, int>> direct_;
  std::vector<std::string> warnings_;
};

} // namespace dfc::cuda
