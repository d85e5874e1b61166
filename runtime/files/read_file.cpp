#include "runtime/files/read_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace dfc {
namespace {

Diagnostic unreadable(const std::string& path, std::string message, std::string hint) {
  return {Severity::Error, {path}, std::move(message), std::move(hint)};
}

} // namespace

Result<std::vector<std::byte>> readFileBytes(const std::string& path) {
  std::error_code failure;
  const auto kind = std::filesystem::status(path, failure).type();
  if (kind == std::filesystem::file_type::not_found) {
    return unreadable(path, "no such file", "check the path; it is relative to the current folder");
  }
  if (kind == std::filesystem::file_type::directory) {
    return unreadable(path, "is a folder, not a file", "name a file inside it");
  }
  if (kind != std::filesystem::file_type::regular) {
    return unreadable(path, "is not a regular file", "copy its contents to a file first");
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return unreadable(path, std::string("cannot be opened: ") + std::strerror(errno),
                      "check the permissions of the file and its folders");
  }
  std::vector<std::byte> bytes;
  const auto size = std::filesystem::file_size(path, failure);
  bytes.resize(failure ? 0 : static_cast<size_t>(size));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (static_cast<size_t>(in.gcount()) != bytes.size()) {
    return unreadable(path, "ended or failed while it was read",
                      "another program may be writing it; try again");
  }
  return bytes;
}

} // namespace dfc
