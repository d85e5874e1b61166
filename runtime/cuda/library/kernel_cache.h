// Compiled kernels kept in a folder, each in a file named by a hash of everything that decides its content
// and carrying a checksum of its own. Knows nothing of CUDA: the kernels are bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dfc::cuda {

/// 128 bits of a hash in hex: FNV-1a in one lane, a mixed second lane. Names files; proves nothing.
std::string kernelKey(std::string_view content);

class KernelCache {
 public:
  /// An empty folder name keeps nothing; a folder that is not there is made. Throws MachineError.
  explicit KernelCache(std::filesystem::path folder);

  /// None where there is none. Throws MachineError for a file that is corrupt, naming it.
  std::optional<std::string> find(const std::string& key) const;
  /// Whole or not at all, whoever else writes the same. Throws MachineError.
  void store(const std::string& key, std::string_view kernel) const;

 private:
  std::filesystem::path pathOf(const std::string& key) const { return folder_ / (key + ".cubin"); }
  std::filesystem::path folder_;
};

} // namespace dfc::cuda
