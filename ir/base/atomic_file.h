// Whole files in and out. A file is written without a name (O_TMPFILE), or under a temporary one where the
// file system has no such files, synced and then given its name, so that a reader sees the old bytes or the
// new ones and never half of them. Used for plans, state, arrays, DOT and traces.
#pragma once

#include "ir/base/diagnostic.h"

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string_view>

namespace dfc {

/// The file that writing `path` replaces: where links lead, also one whose file is yet to be written.
std::string fileBehindLinks(const std::string& path);

/// Replaces the contents of `path`, keeping its permissions where it exists; a link is written through. The
/// temporary file is gone whatever happens: where the process is killed and the file had a name, the next
/// writer in that folder removes it. A path that is no regular file (/dev/stdout, a pipe) is written
/// straight.
Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes);
Status writeFileAtomically(const std::string& path, std::string_view text);
/// The same of pieces, one behind the other, which need not lie in memory as one.
Status writePiecesAtomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);

/// Whether a file could be written there: 0, or the system's error. Makes a temporary file and takes it away.
int tryWriting(const std::string& path);

/// The contents of a file do not fit into the memory of this host.
class NoMemoryForFile : public std::bad_alloc {
 public:
  explicit NoMemoryForFile(std::string file) : file_(std::move(file)) {}
  const std::string& file() const { return file_; }
  const char* what() const noexcept override { return "too little memory for a file"; }

 private:
  std::string file_;
};

/// For a `path` that does not exist: the path of the file or folder in the same folder with the nearest name,
/// for a hint "did you mean …". None where no name is near, or the folder does not exist.
std::optional<std::string> nearestFile(const std::string& path);

/// Up to `count` of the first bytes of a file; of a pipe that this process was given, what has arrived, which
/// stays in the pipe. Empty where `readFile` would give an error.
std::string peekFile(const std::string& path, size_t count);

/// All bytes of a file, at most `limit` of them; a folder, a device, a socket, a named pipe or a larger file
/// is an error. A pipe that this process was given (/dev/stdin, /dev/fd/63) is read to its end.
/// Throws NoMemoryForFile.
Result<std::vector<std::byte>> readFile(const std::string& path, uint64_t limit);
/// The same as text.
Result<std::string> readTextFile(const std::string& path, uint64_t limit);

} // namespace dfc
