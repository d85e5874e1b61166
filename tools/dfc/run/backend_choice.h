// Which backends play the devices, and how: the options that `dfc run` and `dfc-bench` share.
#pragma once

#include "runtime/session.h"

namespace CLI {
class App;
}

namespace dfc::tool {

struct BackendArguments {
  std::vector<std::string> backends; ///< "KIND=NAME"
  std::string kernelCache;           ///< "": the user's cache folder
  bool noKernelCache = false, noCudaGraph = false, noPeerAccess = false;
};

/// Adds --backend, --kernel-cache, --no-kernel-cache, --no-cuda-graph and --no-peer-access.
void addBackendOptions(CLI::App& verb, BackendArguments& arguments);

/// Puts them into `options`; what is wrong with them goes to `errors`.
void applyBackends(const BackendArguments& arguments, SessionOptions& options, Diagnostics& errors);

} // namespace dfc::tool
