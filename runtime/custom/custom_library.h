// A shared library of functions that custom ops call, by the C interface of <dfc/dfc_custom.h>.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/custom_function.h"

#include <string>

namespace DFC_PUBLIC dfc {

/// The functions of the library in `file`, which stays open as long as the process. A name without a slash
/// that is no file here is looked for as the loader does. Errors: a file that cannot be opened, is no library
/// of custom functions, or is of another version.
Result<CustomFunctions> openCustomLibrary(const std::string& file);

} // namespace dfc
