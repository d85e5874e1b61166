// Checkpoints: a session's parameters in a .safetensors file, by name. Written under a temporary name,
// synced, renamed, so that a crash leaves the old file or the new one.
#pragma once

#include "ir/base/visibility.h"
#include "runtime/session.h"

namespace DFC_PUBLIC dfc {

/// Waits for the steps under way first.
Status saveState(Session& session, const std::string& path);
/// Every parameter of the plan must be in the file with its type and shape, and the file may hold no other;
/// nothing is set unless all is well.
Status loadState(Session& session, const std::string& path);

} // namespace dfc
