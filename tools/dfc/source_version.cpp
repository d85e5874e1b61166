#include "tools/dfc/source_version.h"

#include "tools/dfc/version.h"

namespace dfc::tool {

std::string sourceVersion() { return DFC_GIT_VERSION; }

} // namespace dfc::tool
