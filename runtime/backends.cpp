// The list of backends, made from backends.def: a static library would lose objects that registered
// themselves.
#include "runtime/backend.h"

#include <algorithm>
#include <array>

namespace dfc {

#define DFC_BACKEND(function) Backend& function();
#include "runtime/backends.def"
#undef DFC_BACKEND

llvm::ArrayRef<Backend*> allBackends() {
  static const std::array backends = {
#define DFC_BACKEND(function) &function(),
#include "runtime/backends.def"
#undef DFC_BACKEND
  };
  return backends;
}

Backend* backendNamed(std::string_view name) {
  const auto backends = allBackends();
  const auto* found = std::find_if(backends.begin(), backends.end(),
                                   [&](const Backend* backend) { return backend->name() == name; });
  return found == backends.end() ? nullptr : *found;
}

} // namespace dfc
