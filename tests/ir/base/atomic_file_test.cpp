// Whole files in and out: contents, permissions, links, and nothing left behind when it fails.
#include "ir/base/atomic_file.h"

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <string>

using namespace dfc;
namespace fs = std::filesystem;

namespace {

std::string messageOf(const Status& status) {
  REQUIRE_FALSE(status.ok());
  return status.errors().front().message;
}

} // namespace

TEST_CASE("atomic file: writes, replaces, reads back, and leaves no other file") {
  const test::TemporaryFolder folder;
  const std::string text("a\0b\n", 4);
  CHECK(writeFileAtomically(folder.file("out"), std::string_view("first and longer")).ok());
  CHECK(writeFileAtomically(folder.file("out"), std::string_view(text)).ok());
  CHECK(*readTextFile(folder.file("out"), 100) == text);
  CHECK(readFile(folder.file("out"), 4)->size() == 4);
  CHECK(writeFileAtomically(folder.file("out"), std::string_view()).ok());
  CHECK(readTextFile(folder.file("out"), 0)->empty());
  CHECK(folder.fileCount() == 1);
}

TEST_CASE("atomic file: keeps permissions and writes through links") {
  const test::TemporaryFolder folder;
  CHECK(writeFileAtomically(folder.file("real"), std::string_view("old")).ok());
  fs::permissions(folder.file("real"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("real", folder.file("link"));
  CHECK(writeFileAtomically(folder.file("link"), std::string_view("new")).ok());
  CHECK(fs::is_symlink(folder.file("link")));
  CHECK(*readTextFile(folder.file("real"), 100) == "new");
  CHECK(fs::status(folder.file("real")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.fileCount() == 2);
}

TEST_CASE("atomic file: a link whose file is yet to be written stays a link, and its file is written") {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.file("there"));
  fs::create_symlink("there/second", folder.file("first")); // relative to the link's own folder
  fs::create_symlink("../real", folder.file("there/second"));
  CHECK(writeFileAtomically(folder.file("first"), std::string_view("new")).ok());
  CHECK(fs::is_symlink(folder.file("first")));
  CHECK(fs::is_symlink(folder.file("there/second")));
  CHECK(*readTextFile(folder.file("real"), 100) == "new");
  fs::create_symlink("absent/real", folder.file("nowhere"));
  CHECK(messageOf(writeFileAtomically(folder.file("nowhere"), std::string_view("x"))) ==
        "cannot write: No such file or directory");
  fs::create_symlink("circle", folder.file("circle"));
  CHECK(messageOf(writeFileAtomically(folder.file("circle"), std::string_view("x"))) ==
        "cannot write: Too many levels of symbolic links");
  CHECK(fs::is_symlink(folder.file("circle")));
}

TEST_CASE("atomic file: what cannot be written says why and leaves nothing") {
  const test::TemporaryFolder folder;
  CHECK(messageOf(writeFileAtomically(folder.file("absent/out"), std::string_view("x"))) ==
        "cannot write: No such file or directory");
  CHECK(messageOf(writeFileAtomically(folder.path().string(), std::string_view("x"))) ==
        "cannot write: it is a folder");
  CHECK(messageOf(writeFileAtomically("/dev/full", std::string_view("x"))) ==
        "cannot write: No space left on device");
  CHECK(folder.fileCount() == 0);
}

TEST_CASE("atomic file: a device is written straight and never replaced") {
  CHECK(writeFileAtomically("/dev/null", std::string_view("gone")).ok());
  CHECK(fs::is_character_file("/dev/null"));
}

TEST_CASE("atomic file: reading has a limit and wants a file") {
  const test::TemporaryFolder folder;
  CHECK(writeFileAtomically(folder.file("five"), std::string_view("12345")).ok());
  CHECK(readFile(folder.file("five"), 5).ok());
  CHECK(readFile(folder.file("five"), 4).errors().front().message == "is larger than 4 bytes");
  CHECK(readFile("/dev/zero", 1 << 20).errors().front().message == "is a device, not a file");
  CHECK(readFile(folder.path().string(), 10).errors().front().message == "is a folder, not a file");
  CHECK(readFile(folder.file("absent"), 10).errors().front().message ==
        "cannot open: No such file or directory");
}

TEST_CASE("atomic file: a file that is not there has a near name beside it") {
  const test::TemporaryFolder folder;
  CHECK(!nearestFile(folder.file("images.npy")));
  CHECK(writeFileAtomically(folder.file("images.npy"), std::string_view("12345")).ok());
  CHECK(nearestFile(folder.file("imags.npy")) == folder.file("images.npy"));
  CHECK(readFile(folder.file("imags.npy"), 10).errors().front().hint ==
        "did you mean '" + folder.file("images.npy") + "'?");
  CHECK(readFile(folder.file("labels.csv"), 10).errors().front().hint ==
        "check the name and the permissions");
  CHECK(!nearestFile(folder.file("none/images.npy")));
}

TEST_CASE("atomic file: a pipe is read to its end or its limit") {
  const auto readThrough = [](std::string_view text, uint64_t limit) { // as `dfc compile <(print-a-graph)`
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
    auto read = readTextFile("/dev/fd/" + std::to_string(ends[0]), limit);
    ::close(ends[0]);
    return read;
  };
  CHECK(*readThrough("through a pipe", 100) == "through a pipe");
  CHECK(readThrough("far too long", 3).errors().front().message == "is larger than 3 bytes");
}

TEST_CASE("atomic file: a named pipe, which nobody may ever write to, and a socket are refused unopened") {
  const test::TemporaryFolder folder;
  const std::string pipe = folder.file("pipe"), link = folder.file("link"), socket = folder.file("socket");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink(pipe, link);
  REQUIRE(::mknod(socket.c_str(), S_IFSOCK | 0600, 0) == 0);
  CHECK(readFile(pipe, 10).errors().front().message == "is a named pipe, not a file");
  CHECK(readFile(link, 10).errors().front().message == "is a named pipe, not a file");
  CHECK(readFile(socket, 10).errors().front().message == "is a socket, not a file");
}

TEST_CASE("atomic file: a process that is killed while it writes leaves nothing behind") {
  const test::TemporaryFolder folder;
  CHECK(writeFileAtomically(folder.file("out"), std::string_view("old")).ok());
  const std::string large(1 << 20, 'x');
  const pid_t child = ::fork();
  if (child == 0) { // killed by the kernel in the middle of the file
    const rlimit small{8192, 8192}, none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::setrlimit(RLIMIT_FSIZE, &small);
    ::signal(SIGXFSZ, SIG_DFL);
    ::_exit(writeFileAtomically(folder.file("out"), large).ok() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(writeFileAtomically(folder.file("next"), std::string_view("new")).ok());
  CHECK(*readTextFile(folder.file("out"), 100) == "old");
  CHECK(folder.fileCount() == 2);
}

TEST_CASE("atomic file: temporary files of dead processes are removed, of living ones not") {
  const test::TemporaryFolder folder;
  const std::string dead = folder.file(".dfc-tmp-1-0"), living = folder.file(".dfc-tmp-1-1");
  for (const std::string& path : {dead, living, folder.file("dfc-tmp-1-2")}) {
    CHECK(writeFileAtomically(path, std::string_view("half")).ok());
    const int held = path == living ? ::open(living.c_str(), O_WRONLY | O_CLOEXEC) : 0;
    CHECK((held >= 0 && (held == 0 || ::flock(held, LOCK_EX) == 0)));
  }
  CHECK(writeFileAtomically(folder.file("out"), std::string_view("whole")).ok());
  CHECK_FALSE(fs::exists(dead));
  CHECK(fs::exists(living));
  CHECK(fs::exists(folder.file("dfc-tmp-1-2")));
}

TEST_CASE("atomic file: a name may have as many bytes as the file system takes") {
  const test::TemporaryFolder folder;
  for (const size_t length : {243U, 255U}) {
    const std::string path = folder.file(std::string(length, 'n'));
    CHECK(tryWriting(path) == 0);
    CHECK(writeFileAtomically(path, std::string_view("first")).ok());
    CHECK(writeFileAtomically(path, std::string_view("second")).ok());
    CHECK(*readTextFile(path, 100) == "second");
  }
  CHECK(folder.fileCount() == 2);
  CHECK(tryWriting(folder.file(std::string(256, 'n'))) == ENAMETOOLONG);
  CHECK(messageOf(writeFileAtomically(folder.file(std::string(256, 'n')), std::string_view("x"))) ==
        "cannot write: File name too long");
}

TEST_CASE("atomic file: the beginning of a pipe can be seen before it is read") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]), text(10000, 'p');
  REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  CHECK(peekFile(path, 100) == text.substr(0, 100));
  ::close(ends[1]);
  CHECK(peekFile(path, 20000) == text.substr(0, peekFile(path, 20000).size()));
  CHECK(*readTextFile(path, 20000) == text);
  CHECK(peekFile(path, 100).empty());
  ::close(ends[0]);
  const test::TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(peekFile(folder.file("pipe"), 100).empty()); // and nobody waits for a writer
}
