// Whole files in and out. A file is written under a temporary name in the same folder, synced and renamed, so
// that a reader sees the old bytes or the new ones and never half of them. Used for plans, state, arrays, DOT
// and traces.
#pragma once

#include "ir/base/diagnostic.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace dfc {

/// Replaces the contents of `path`, keeping its permissions where it exists; a link is written through. The
/// temporary file is gone whatever happens. A path that is no regular file (/dev/stdout, a pipe) is written
/// straight.
Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::string& path, std::string_view text);

/// All bytes of a file, at most `limit` of them; a folder, a device, a socket, a named pipe or a larger file
/// is an error. A pipe that this process was given (/dev/stdin, /dev/fd/63) is read to its end.
Result<std::vector<std::byte>> readFile(const std::string& path, uint64_t limit);
/// The same as text.
Result<std::string> readTextFile(const std::string& path, uint64_t limit);

} // namespace dfc
