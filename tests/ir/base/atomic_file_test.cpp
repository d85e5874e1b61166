// Whole files in and out: contents, permissions, links, and nothing left behind when it fails.
#include "ir/atomic_file.h"

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
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
