// Where the running program lies: what it opens at run time is looked for beside it.
#pragma once

#include <filesystem>

namespace dfc {

/// The folder of the running executable. Asks /proc, and where that is not mounted (a bare chroot) the path
/// that the kernel was given to start it, which a change of the current folder makes wrong if it was
/// relative. Empty if neither is known.
std::filesystem::path executableFolder();

} // namespace dfc
