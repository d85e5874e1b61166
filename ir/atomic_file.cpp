// POSIX files: open, write, fsync, rename; every failure becomes one diagnostic that names the file and says
// what the system said.
#include "ir/atomic_file.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

namespace dfc {
namespace {

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }
  bool open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// False when the system could not write what it had kept back.
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

std::string systemText(int code) { return std::generic_category().message(code); }

Diagnostic failure(const std::string& path, const std::string& what, std::string hint) {
  return {Severity::Error, {path, 0, 0}, what, std::move(hint)};
}

Diagnostic writeFailure(const std::string& path, int code) {
  return failure(path, fmt::format("cannot write: {}", systemText(code)),
                 code == ENOENT ? "make the folder first"
                                : "check the folder, its permissions and the space left");
}

bool writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      return false;
    }
    bytes = bytes.subspan(static_cast<size_t>(written < 0 ? 0 : written));
  }
  return true;
}

/// Where a link leads, so that renaming replaces what it names and not the link itself.
std::string throughLinks(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) {
    return path;
  }
  std::string resolved(real);
  std::free(real); // NOLINT: realpath allocates with malloc
  return resolved;
}

/// Makes the folder's entry durable. Not every file system can, and the rename stands without it.
void syncFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.open()) {
    ::fsync(opened.get());
  }
}

/// A new file beside `path`, open for writing; its name in `temporary`. Names that a killed process left are
/// passed over.
int openTemporary(const std::string& path, std::string& temporary) {
  static std::atomic<uint32_t> counter{0};
  for (;;) {
    temporary = fmt::format("{}.tmp-{}-{}", path, ::getpid(), counter.fetch_add(1));
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) {
      return descriptor;
    }
  }
}

Status writeStraight(const std::string& path, std::span<const std::byte> bytes) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open() || !writeAll(file.get(), bytes) || !file.close()) {
    return writeFailure(path, errno);
  }
  return success();
}

/// Writes, syncs and closes; 0 or the system's error.
int fillTemporary(File& file, std::span<const std::byte> bytes, std::optional<mode_t> mode) {
  if (mode && ::fchmod(file.get(), *mode) != 0) {
    return errno;
  }
  if (!writeAll(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close()) {
    return errno;
  }
  return 0;
}

Status writeBeside(const std::string& path, std::span<const std::byte> bytes, std::optional<mode_t> mode) {
  std::string temporary;
  File file(openTemporary(path, temporary));
  if (!file.open()) {
    return writeFailure(path, errno);
  }
  int code = fillTemporary(file, bytes, mode);
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) {
    code = errno;
  }
  if (code != 0) {
    ::unlink(temporary.c_str());
    return writeFailure(path, code);
  }
  syncFolderOf(path);
  return success();
}

Diagnostic tooLarge(const std::string& path, uint64_t limit) {
  return failure(path, fmt::format("is larger than {} bytes", limit), "is this the file you meant?");
}

/// Appends up to `limit` bytes to `bytes`; gives an error, or none.
template <class Bytes>
std::optional<Diagnostic> readAll(const File& file, const std::string& path, uint64_t limit, Bytes& bytes) {
  constexpr size_t chunk = size_t{1} << 20;
  for (size_t filled = bytes.size();;) {
    bytes.resize(std::max(bytes.size(), filled + chunk));
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno != EINTR) {
      return failure(path, fmt::format("cannot read: {}", systemText(errno)), "check the file and the disk");
    }
    filled += static_cast<size_t>(got < 0 ? 0 : got);
    if (filled > limit) {
      return tooLarge(path, limit);
    }
    if (got == 0) {
      bytes.resize(filled);
      return std::nullopt;
    }
  }
}

/// Whether a path leads to an entry of a folder: not so for a pipe of this process, /dev/stdin or /dev/fd/63,
/// which is open at its other end already.
bool hasFolderEntry(const std::string& path) {
  struct stat entry {};
  return ::lstat(throughLinks(path).c_str(), &entry) == 0 && !S_ISLNK(entry.st_mode);
}

std::optional<Diagnostic> refuseUnreadable(const std::string& path, const struct stat& facts,
                                           uint64_t limit) {
  if (S_ISDIR(facts.st_mode)) {
    return failure(path, "is a folder, not a file", "name a file in it");
  }
  if (S_ISSOCK(facts.st_mode)) {
    return failure(path, "is a socket, not a file", "name a file");
  }
  if (S_ISFIFO(facts.st_mode) && hasFolderEntry(path)) {
    return failure(path, "is a named pipe, not a file", "name a file, or give it through /dev/stdin");
  }
  if (!S_ISREG(facts.st_mode) && !S_ISFIFO(facts.st_mode)) {
    return failure(path, "is a device, not a file", "name a file");
  }
  if (S_ISREG(facts.st_mode) && static_cast<uint64_t>(facts.st_size) > limit) {
    return tooLarge(path, limit);
  }
  return std::nullopt;
}

template <class Bytes>
Result<Bytes> readWhole(const std::string& path, uint64_t limit) {
  const auto unopened = [&] {
    return failure(path, fmt::format("cannot open: {}", systemText(errno)),
                   "check the name and the permissions");
  };
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return unopened();
  }
  if (auto refused = refuseUnreadable(path, facts, limit)) {
    return std::move(*refused); // before it is opened: a named pipe would wait there for a writer
  }
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) {
    return unopened();
  }
  Bytes bytes;
  if (S_ISREG(facts.st_mode)) {
    bytes.reserve(static_cast<size_t>(facts.st_size) + (size_t{1} << 20));
  }
  if (auto failed = readAll(file, path, limit, bytes)) {
    return std::move(*failed);
  }
  return bytes;
}

} // namespace

Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    return writeBeside(path, bytes, std::nullopt);
  }
  if (S_ISDIR(facts.st_mode)) {
    return failure(path, "cannot write: it is a folder", "name a file in it");
  }
  if (!S_ISREG(facts.st_mode)) {
    return writeStraight(path, bytes);
  }
  return writeBeside(throughLinks(path), bytes, static_cast<mode_t>(facts.st_mode & 07777));
}

Status writeFileAtomically(const std::string& path, std::string_view text) {
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}

Result<std::vector<std::byte>> readFile(const std::string& path, uint64_t limit) {
  return readWhole<std::vector<std::byte>>(path, limit);
}

Result<std::string> readTextFile(const std::string& path, uint64_t limit) {
  return readWhole<std::string>(path, limit);
}

} // namespace dfc
