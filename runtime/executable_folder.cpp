#include "runtime/executable_folder.h"

#include <sys/auxv.h>

namespace dfc {

std::filesystem::path executableFolder() {
  std::error_code error;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return executable.parent_path();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel hands the address over as a number
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  const std::filesystem::path path = std::filesystem::absolute(started, error);
  return error ? std::filesystem::path() : path.parent_path();
}

std::filesystem::path shippedFile(const std::filesystem::path& path) {
  const std::filesystem::path shipped = executableFolder().parent_path() / "share/dfc" / path;
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(shipped, error);
  return error ? shipped : resolved;
}

} // namespace dfc
