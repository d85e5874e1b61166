// Whole files as bytes, for the readers in this folder. Assumes nothing of the file: a folder, a device or an
// unreadable path is an error that says so, and memory grows with what was truly read.
#pragma once

#include "ir/diagnostic.h"

#include <cstddef>
#include <string>
#include <vector>

namespace dfc {

/// The contents of a regular file. Errors carry `path` as their place.
Result<std::vector<std::byte>> readFileBytes(const std::string& path);

} // namespace dfc
