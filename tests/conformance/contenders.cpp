// The table of exclusions, and the contenders that it leaves.
#include "tests/conformance/contenders.h"
#include "runtime/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

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

Machine Contender::machine(uint32_t queues) const { return smallMachine(gpus(), queues, queues); }

std::vector<std::string> Contender::devices() const {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < gpus(); ++i) {
    names.push_back(fmt::format("gpu{}", i));
  }
  return kind == DeviceKind::Gpu ? names : std::vector<std::string>{"cpu0"};
}

uint32_t Contender::gpus() const {
  if (kind != DeviceKind::Gpu) {
    return 0;
  }
  Machine host = smallMachine(0, 1, 1);
  const size_t others = host.devices.size();
  backend->describeHost(host, /*measure=*/false);
  const size_t real = host.devices.size() - others;
  // One that only plays GPUs plays any number. Of three, GPUs exchange by words, of two by edges of a graph.
  return real == 0 ? 2 : static_cast<uint32_t>(std::min<size_t>(real, 3));
}

SessionOptions Contender::options() const {
  SessionOptions options;
  const std::string own(backend->name());
  options.cpuBackend = backend->supports(DeviceKind::Cpu) ? own : "cpu";
  options.gpuBackend = kind == DeviceKind::Gpu ? own : "";
  // For debugging, and to show that it changes no bit.
  options.backendOptions.graphs = std::getenv("DFC_TEST_WITHOUT_GRAPHS") == nullptr;
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
