#include "runtime/cpu/onednn_library.h"

#include "runtime/modules.h"

#include <fmt/format.h>

namespace dfc {
namespace {

constexpr const char* onednnModuleFile = "libdfc_onednn.so";

// Never closed: kernels, and OpenMP's threads, may live as long as the process.
onednn::Module* open() {
  const FoundModule found = findModule(onednnModuleFile, onednn::moduleSymbol);
  if (found.symbol != nullptr) {
    return reinterpret_cast<onednn::ModuleFunction>(found.symbol)();
  }
  throw ModuleError(
      fmt::format("{} cannot be opened, and cpu kernels need it:{}", onednnModuleFile, found.reasons),
      fmt::format("install oneDNN (Debian 12: apt-get install libdnnl2; Ubuntu 24.04: libdnnl3), and keep {} "
                  "beside the program, in ../lib/dfc, or in SessionOptions::moduleFolder",
                  onednnModuleFile));
}

} // namespace

onednn::Module& onednnModule() {
  static onednn::Module* const module = open(); // opened once; a call that throws leaves it to the next
  return *module;
}

} // namespace dfc
