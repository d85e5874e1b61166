// The table of exclusions, and the contenders that it leaves.
#include "tests/conformance/contenders.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::test {
namespace {

constexpr std::array exclusionRows = {
    Exclusion{"null", Aspect::Memory, "it has no memory"},
    Exclusion{"null", Aspect::FreshMemory, "it has no memory"},
    Exclusion{"null", Aspect::Values, "it computes nothing"},
    Exclusion{"cpu", Aspect::FreshMemory,
              "the host's memory is not filled: a plan that reads too early shows on emulated"},
};

bool excluded(const Backend& backend, Aspect aspect) {
  return std::any_of(exclusionRows.begin(), exclusionRows.end(), [&](const Exclusion& row) {
    return row.backend == backend.name() && row.aspect == aspect;
  });
}

} // namespace

llvm::ArrayRef<Exclusion> exclusions() { return exclusionRows; }

Machine Contender::machine(uint32_t queues) const {
  return smallMachine(kind == DeviceKind::Gpu ? 2 : 0, queues, queues);
}

std::vector<std::string> Contender::devices() const {
  return kind == DeviceKind::Gpu ? std::vector<std::string>{"gpu0", "gpu1"}
                                 : std::vector<std::string>{"cpu0"};
}

SessionOptions Contender::options() const {
  SessionOptions options;
  const std::string own(backend->name());
  options.cpuBackend = backend->supports(DeviceKind::Cpu) ? own : "cpu";
  options.gpuBackend = kind == DeviceKind::Gpu ? own : "";
  return options;
}

std::vector<Contender> contenders(Aspect aspect) {
  std::vector<Contender> found;
  for (Backend* backend : allBackends()) {
    for (const DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Gpu}) {
      if (backend->supports(kind) && backend->unavailable().empty() && !excluded(*backend, aspect)) {
        found.push_back({backend, kind, fmt::format("{} as {}", backend->name(), dfc::name(kind))});
      }
    }
  }
  return found;
}

} // namespace dfc::test
