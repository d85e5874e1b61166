#include "tools/bench/host_facts.h"

#include "runtime/available_processors.h"
#include "runtime/cpu_model.h"

#include "runtime/backend.h"
#include "tools/dfc/source_version.h"

#include <ctime>
#include <fstream>
#include <malloc.h>
#include <thread>
#include <unistd.h>

namespace dfc::bench {
namespace {

/// "NVRM version: NVIDIA UNIX … Kernel Module for x86_64  580.65.06  Release Build …": the first word of
/// digits and dots.
std::string driverVersion() {
  std::ifstream in("/proc/driver/nvidia/version");
  for (std::string word; in >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) {
      return word;
    }
  }
  return "";
}

std::string cudaLibraries() {
  const Backend* cuda = backendNamed("cuda");
  return cuda != nullptr ? cuda->libraries() : "";
}

std::string nowInUtc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

} // namespace

HostFacts hostFacts() {
  return {cpuModel(), availableProcessors(), driverVersion(), cudaLibraries(),
          nowInUtc(), tool::sourceVersion()};
}

int64_t residentBytes() {
  std::ifstream in("/proc/self/statm");
  int64_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * ::sysconf(_SC_PAGE_SIZE);
}

int64_t forgetPeak() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5"; // resets VmHWM
  return residentBytes();
}

int64_t peakBytes() {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    int64_t kibibytes = 0;
    if (word == "VmHWM:" && in >> kibibytes) {
      return kibibytes * 1024;
    }
  }
  return residentBytes();
}

} // namespace dfc::bench
