#include "tools/dfc/backend_choice.h"

#include "tools/dfc/planning.h"

namespace dfc::tool {
namespace {

std::vector<std::string> backendNames() {
  std::vector<std::string> names;
  for (const Backend* backend : allBackends()) {
    names.emplace_back(backend->name());
  }
  return names;
}

} // namespace

void applyBackend(const std::string& text, SessionOptions& options, Diagnostics& errors) {
  const auto pair = splitPair(text, "--backend", "KIND=NAME, for example gpu=emulated");
  if (!pair) {
    errors.insert(errors.end(), pair.errors().begin(), pair.errors().end());
    return;
  }
  const auto& [kind, backend] = *pair;
  if (kind != name(DeviceKind::Cpu) && kind != name(DeviceKind::Gpu)) {
    errors.push_back(unknownName("device kind", kind,
                                 {std::string(name(DeviceKind::Cpu)), std::string(name(DeviceKind::Gpu))}));
  } else if (backendNamed(backend) == nullptr) {
    errors.push_back(unknownName("backend", backend, backendNames()));
  } else {
    (kind == name(DeviceKind::Cpu) ? options.cpuBackend : options.gpuBackend) = backend;
  }
}

} // namespace dfc::tool
