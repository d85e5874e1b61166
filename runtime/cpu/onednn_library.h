// Opens libdfc_onednn.so on first use: beside the running executable (a build tree) or in ../lib/dfc from
// there (an installed dfc).
#pragma once

#include "runtime/cpu/onednn/api.h"

namespace dfc {

/// The module, opened once for the process. Throws MachineError that says what to install when it cannot be
/// opened.
onednn::Module& onednnModule();

} // namespace dfc
