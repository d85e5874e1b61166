// Where the running program lies: what it opens and reads at run time is looked for beside it, so that
// neither a build nor an installation has a path inside that is true on one machine only.
#pragma once

#include <filesystem>

namespace dfc {

/// The folder of the running executable. Asks /proc, and where that is not mounted (a bare chroot) the path
/// that the kernel was given to start it, which a change of the current folder makes wrong if it was
/// relative. Empty if neither is known.
std::filesystem::path executableFolder();

/// Where a file or folder that comes with dfc lies, by its path in the source tree ("samples/machines"):
/// below
/// ../share/dfc, seen from the executable. An installation has copies there; a build folder has links to the
/// source tree, which are resolved. It need not exist.
std::filesystem::path shippedFile(const std::filesystem::path& path);

} // namespace dfc
