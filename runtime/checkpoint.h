// Checkpoints: a session's parameters in a .safetensors file, by name. Written under a temporary name,
// synced, renamed, so that a crash leaves the old file or the new one.
//
// Plans of one graph share checkpoints, whatever their machines and options. Training in f16 derives
// parameters of its own, "lossScale" and "lossScale.finiteSteps": where a file lacks them they keep their
// values, which in a session just opened are the initial ones, and a plan of another precision passes them
// over. Those of an author's LossScaling are parameters like any other.
#pragma once

#include "ir/base/visibility.h"
#include "runtime/session.h"

namespace DFC_PUBLIC dfc {

/// Waits for the steps under way first.
Status saveState(Session& session, const std::string& path);
/// Every parameter of the graph must be in the file with its type and shape, and the file may hold no other
/// but those that plans derive; nothing is set unless all is well.
Status loadState(Session& session, const std::string& path);
/// The same of values that were read already; `file` is for messages.
Status setWholeState(Session& session, const NamedLiterals& values, const std::string& file);

} // namespace dfc
