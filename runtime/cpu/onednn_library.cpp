#include "runtime/cpu/onednn_library.h"

#include "runtime/errors.h"
#include "runtime/executable_folder.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <vector>

namespace dfc {
namespace {

constexpr const char* onednnModule = "libdfc_onednn.so";

std::vector<std::filesystem::path> candidates() {
  const std::filesystem::path folder = executableFolder();
  return {folder / onednnModule, folder / "../lib/dfc" / onednnModule};
}

// Never closed: kernels, and OpenMP's threads, may live as long as the process.
onednn::Module* open() {
  std::string reasons;
  for (const std::filesystem::path& path : candidates()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* symbol = library == nullptr ? nullptr : dlsym(library, onednn::moduleSymbol);
    if (symbol != nullptr) {
      return reinterpret_cast<onednn::ModuleFunction>(symbol)();
    }
    const char* reason = dlerror();
    reasons += fmt::format("\n  {}", reason != nullptr ? reason : path.c_str());
  }
  throw MachineError(
      fmt::format("{} cannot be opened, and cpu kernels need it:{}\n"
                  "install oneDNN (Debian 12: apt-get install libdnnl2; Ubuntu 24.04: libdnnl3) "
                  "and keep {} beside the program or in ../lib/dfc",
                  onednnModule, reasons, onednnModule));
}

} // namespace

onednn::Module& onednnModule() {
  static onednn::Module* const module = open(); // tried again at the next call after a throw
  return *module;
}

} // namespace dfc
