// POSIX files: open, write, fsync, link or rename; every failure becomes one diagnostic that names the file
// and says what the system said.
#include "ir/base/atomic_file.h"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace dfc {
namespace {

constexpr int mostLinks = 40; ///< as the kernel follows them
constexpr std::string_view temporaryPrefix = ".dfc-tmp-";

/// A file descriptor that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
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
  if (path.empty()) {
    return failure(path, "cannot write a file without a name", "give the file's name");
  }
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

std::string folderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// What a link names, seen from where this process is; none where the path is no link.
std::optional<std::string> linkTarget(const std::string& path) {
  std::string target(PATH_MAX, '\0');
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length <= 0) {
    return std::nullopt;
  }
  target.resize(static_cast<size_t>(length));
  return target.starts_with('/') ? target : folderOf(path) + target;
}

/// The folder of a file that is to be made, opened: names in it then have only their own length.
File openFolderOf(const std::string& path) {
  const std::string folder = folderOf(path);
  const char* name = folder.empty() ? "." : folder.c_str();
  const int readable = ::open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return File(readable >= 0 ? readable : ::open(name, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/// Locked until it is closed, so that no other process takes it for the temporary file of a dead one.
void lock(const File& file) {
  while (::flock(file.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
}

std::string temporaryName() {
  static std::atomic<uint32_t> counter{0};
  return fmt::format("{}{}-{}", temporaryPrefix, ::getpid(), counter.fetch_add(1));
}

std::string processPath(const File& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

/// Removes what killed processes left in a folder: temporary files that nobody holds locked.
void removeStaleTemporaries(const File& folder) {
  const int descriptor = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = descriptor >= 0 ? ::fdopendir(descriptor) : nullptr;
  if (entries == nullptr) {
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    if (std::string_view(entry->d_name).starts_with(temporaryPrefix)) {
      const File file(::openat(folder.get(), entry->d_name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
      if (file.open() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
        ::unlinkat(folder.get(), entry->d_name, 0);
      }
    }
  }
  ::closedir(entries);
}

/// A new file in a folder, without a name where the file system can have such: then nothing is left of it
/// when this process is killed. Else it has a temporary name, and the next process to write there removes it.
class Temporary {
 public:
  explicit Temporary(const File& folder)
      : folder_(folder), file_(::openat(folder.get(), ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)) {
    if (file_.open() && ::access(processPath(file_).c_str(), F_OK) != 0) {
      file_.close(); // without /proc it could never be given a name
    }
    if (file_.open()) {
      lock(file_);
    } else {
      openNamed();
    }
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) {
      ::unlinkat(folder_.get(), name_.c_str(), 0);
    }
  }
  const File& file() const { return file_; } ///< not open: errno says why

  /// Gives it its name in the folder, in place of whatever has it; 0 or the system's error.
  int become(const std::string& name) {
    if (name_.empty() && !link(name)) {
      if (errno != EEXIST) {
        return errno;
      }
      for (std::string other = temporaryName(); name_.empty(); other = temporaryName()) {
        if (link(other)) {
          name_ = other; // a link replaces nothing, a rename does
        } else if (errno != EEXIST) {
          return errno;
        }
      }
    }
    if (!name_.empty() && ::renameat(folder_.get(), name_.c_str(), folder_.get(), name.c_str()) != 0) {
      return errno;
    }
    name_.clear();
    return 0;
  }

 private:
  bool link(const std::string& name) {
    return ::linkat(AT_FDCWD, processPath(file_).c_str(), folder_.get(), name.c_str(), AT_SYMLINK_FOLLOW) ==
           0;
  }

  void openNamed() {
    for (;;) {
      name_ = temporaryName();
      file_ = File(::openat(folder_.get(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      if (!file_.open() && errno != EEXIST) {
        name_.clear();
        return;
      }
      struct stat facts {};
      if (file_.open()) {
        lock(file_);
        if (::fstat(file_.get(), &facts) != 0 || facts.st_nlink > 0) {
          return;
        } // else taken for a stale one before it was locked
      }
    }
  }

  const File& folder_;
  File file_;
  std::string name_; ///< empty: it has none, or that of the file to be
};

using Pieces = std::span<const std::span<const std::byte>>;

bool writeAll(int descriptor, Pieces pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](std::span<const std::byte> piece) { return writeAll(descriptor, piece); });
}

Status writeStraight(const std::string& path, Pieces bytes) {
  File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.open() || !writeAll(file.get(), bytes) || !file.close()) {
    return writeFailure(path, errno);
  }
  return success();
}

/// 0 or the system's error.
int fill(const File& file, Pieces bytes, std::optional<mode_t> mode) {
  if (mode && ::fchmod(file.get(), *mode) != 0) {
    return errno;
  }
  return writeAll(file.get(), bytes) && ::fsync(file.get()) == 0 ? 0 : errno;
}

Status writeBeside(const std::string& path, Pieces bytes, std::optional<mode_t> mode) {
  const File folder = openFolderOf(path);
  if (!folder.open()) {
    return writeFailure(path, errno);
  }
  removeStaleTemporaries(folder);
  Temporary temporary(folder);
  int code = temporary.file().open() ? fill(temporary.file(), bytes, mode) : errno;
  if (code == 0) {
    code = temporary.become(path.substr(folderOf(path).size()));
  }
  if (code != 0) {
    return writeFailure(path, code);
  }
  ::fsync(folder.get()); // makes the entry durable; not every file system can, and the file stands without it
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
  return ::lstat(fileBehindLinks(path).c_str(), &entry) == 0 && !S_ISLNK(entry.st_mode);
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

/// What lies in a pipe, left there for its reader (tee(2)): at least `enoughToTell` bytes, unless it ends
/// before.
std::string peekPipe(const File& pipe, size_t count) {
  constexpr size_t enoughToTell = 64;
  constexpr int pauseMilliseconds = 1;
  for (;;) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return "";
    }
    const File out(ends[0]), in(ends[1]);
    pollfd state{pipe.get(), POLLIN, 0};
    ::poll(&state, 1, -1); // before tee, so that all of a pipe without writers is seen
    const ssize_t there = ::tee(pipe.get(), in.get(), count, 0);
    std::string head(static_cast<size_t>(std::max<ssize_t>(there, 0)), '\0');
    head.resize(static_cast<size_t>(std::max<ssize_t>(::read(out.get(), head.data(), head.size()), 0)));
    if (there <= 0 || head.size() >= std::min(count, enoughToTell) || (state.revents & POLLHUP) != 0) {
      return head;
    }
    ::poll(nullptr, 0, pauseMilliseconds);
  }
}

template <class Bytes>
Result<Bytes> readWhole(const std::string& path, uint64_t limit) {
  const auto unopened = [&] {
    const int code = errno;
    const auto near = code == ENOENT ? nearestFile(path) : std::nullopt;
    return failure(path, fmt::format("cannot open: {}", systemText(code)),
                   near ? fmt::format("did you mean '{}'?", *near) : "check the name and the permissions");
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
  try {
    if (S_ISREG(facts.st_mode)) {
      bytes.reserve(static_cast<size_t>(facts.st_size) + (size_t{1} << 20));
    }
    if (auto failed = readAll(file, path, limit, bytes)) {
      return std::move(*failed);
    }
  } catch (const std::bad_alloc&) {
    throw NoMemoryForFile(path);
  }
  return bytes;
}

} // namespace

std::string fileBehindLinks(const std::string& path) {
  if (char* real = ::realpath(path.c_str(), nullptr); real != nullptr) {
    std::string resolved(real);
    std::free(real); // NOLINT: realpath allocates with malloc
    return resolved;
  }
  std::string file = path; // the last link's target is not there, or a folder before it
  for (int followed = 0; followed < mostLinks; ++followed) {
    auto target = linkTarget(file);
    if (!target) {
      return file;
    }
    file = *std::move(target);
  }
  return path; // links that lead to one another
}

Status writeFileAtomically(const std::string& path, std::span<const std::byte> bytes) {
  return writePiecesAtomically(path, std::span(&bytes, 1));
}

Status writePiecesAtomically(const std::string& path, std::span<const std::span<const std::byte>> bytes) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) {
    if (errno != ENOENT) {
      return writeFailure(path, errno);
    }
    return writeBeside(fileBehindLinks(path), bytes, std::nullopt);
  }
  if (S_ISDIR(facts.st_mode)) {
    return failure(path, "cannot write: it is a folder", "name a file in it");
  }
  if (!S_ISREG(facts.st_mode)) {
    return writeStraight(path, bytes);
  }
  return writeBeside(fileBehindLinks(path), bytes, static_cast<mode_t>(facts.st_mode & 07777));
}

Status writeFileAtomically(const std::string& path, std::string_view text) {
  return writeFileAtomically(path, std::as_bytes(std::span(text)));
}

int tryWriting(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 && errno != ENOENT) {
    return errno;
  }
  const File folder = openFolderOf(fileBehindLinks(path));
  return folder.open() && Temporary(folder).file().open() ? 0 : errno;
}

std::optional<std::string> nearestFile(const std::string& path) {
  constexpr size_t lookedAt = 10'000; // a folder of a data set may hold millions
  const std::filesystem::path wanted(path);
  const std::filesystem::path folder = wanted.parent_path();
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, failed);
  for (; !failed && entry != std::filesystem::directory_iterator() && names.size() < lookedAt;
       entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const auto near = nearestName(wanted.filename().string(), names);
  return near ? std::optional((folder / *near).string()) : std::nullopt;
}

std::string peekFile(const std::string& path, size_t count) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 ||
      refuseUnreadable(path, facts, std::numeric_limits<uint64_t>::max())) {
    return "";
  }
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open() || S_ISFIFO(facts.st_mode)) {
    return file.open() ? peekPipe(file, count) : "";
  }
  std::string head(count, '\0');
  const ssize_t got = ::pread(file.get(), head.data(), head.size(), 0);
  head.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return head;
}

Result<std::vector<std::byte>> readFile(const std::string& path, uint64_t limit) {
  return readWhole<std::vector<std::byte>>(path, limit);
}

Result<std::string> readTextFile(const std::string& path, uint64_t limit) {
  return readWhole<std::string>(path, limit);
}

} // namespace dfc
