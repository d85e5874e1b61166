#include "tools/dfc/run/backend_choice.h"

#include "runtime/backend.h"
#include "tools/dfc/all_errors.h"
#include "tools/dfc/planning.h"
#include "tools/dfc/user_cache.h"

#include <CLI/CLI.hpp>

namespace dfc::tool {
namespace {

std::vector<std::string> backendNames() {
  std::vector<std::string> names;
  for (const Backend* backend : allBackends()) {
    names.emplace_back(backend->name());
  }
  return names;
}

void applyBackend(const std::string& text, SessionOptions& options, Diagnostics& errors) {
  const auto pair = splitPair(text, "--backend", "KIND=NAME, for example gpu=emulated");
  if (!pair) {
    add(errors, pair.errors());
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

} // namespace

void addBackendOptions(CLI::App& verb, BackendArguments& arguments) {
  verb.add_option("--backend", arguments.backends,
                  "backend of the devices of a kind, e.g. gpu=emulated, cpu=null")
      ->type_name("KIND=NAME")
      ->allow_extra_args(false);
  auto* folder =
      verb.add_option("--kernel-cache", arguments.kernelCache,
                      "where kernels compiled for GPUs are kept (default: the user's cache folder)");
  folder->type_name("FOLDER");
  verb.add_flag("--no-kernel-cache", arguments.noKernelCache, "keep no kernels")->excludes(folder);
  verb.add_flag("--no-cuda-graph", arguments.noCudaGraph,
                "launch every GPU command anew each step, for debugging");
  verb.add_flag("--no-peer-access", arguments.noPeerAccess,
                "let GPUs exchange through the host's memory, for systems whose peer access corrupts");
}

void applyBackends(const BackendArguments& arguments, SessionOptions& options, Diagnostics& errors) {
  for (const std::string& text : arguments.backends) {
    applyBackend(text, options, errors);
  }
  const std::string& named = arguments.kernelCache;
  options.backendOptions.kernelCache = arguments.noKernelCache ? ""
                                       : named.empty()         ? userCacheFolder("kernels")
                                                               : named;
  options.backendOptions.graphs = !arguments.noCudaGraph;
  options.backendOptions.peerAccess = !arguments.noPeerAccess;
}

} // namespace dfc::tool
