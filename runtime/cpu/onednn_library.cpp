#include "runtime/cpu/onednn_library.h"

#include "runtime/modules.h"

#include <fmt/format.h>

namespace dfc {
namespace {

constexpr const char* onednnModuleFile = "libdfc_onednn.so";

std::string wayOut(const FoundModule& found) {
  if (!found.present) {
    return fmt::format("dfc's install puts it into {}: install dfc again, or name the folder that has it in "
                       "SessionOptions::moduleFolder",
                       found.home.empty() ? "PREFIX/lib/dfc" : found.home);
  }
  return found.reasons.find("libdnnl") != std::string::npos
             ? "install oneDNN (Debian 12: apt-get install libdnnl2; Ubuntu 24.04: libdnnl3)"
             : "the file is of another build or damaged: install dfc again";
}

// Never closed: kernels, and OpenMP's threads, may live as long as the process.
onednn::Module* open() {
  const FoundModule found = findModule(onednnModuleFile, onednn::moduleSymbol);
  if (found.symbol != nullptr) {
    return reinterpret_cast<onednn::ModuleFunction>(found.symbol)();
  }
  throw ModuleError(
      fmt::format("{} cannot be opened, and cpu kernels need it:{}", onednnModuleFile, found.reasons),
      wayOut(found));
}

} // namespace

onednn::Module& onednnModule() {
  static onednn::Module* const module = open(); // opened once; a call that throws leaves it to the next
  return *module;
}

} // namespace dfc
