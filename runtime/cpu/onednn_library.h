// Opens libdfc_onednn.so on first use; runtime/modules.h says where it is looked for.
#pragma once

#include "runtime/cpu/onednn/api.h"

namespace dfc {

/// The module, opened once for the process. Throws ModuleError that says what to install when it cannot be
/// opened.
onednn::Module& onednnModule();

} // namespace dfc
