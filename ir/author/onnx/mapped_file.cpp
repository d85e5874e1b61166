#include "ir/author/onnx/mapped_file.h"

#include "ir/base/atomic_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dfc::onnx {
namespace {

constexpr uint64_t largestModel = uint64_t(1) << 40; // far above any memory; a pipe without end stops here

/// The file's bytes in memory; none where it is empty or cannot be mapped (a pipe, a folder, no such file).
Bytes mapping(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat state {};
  if (file < 0) {
    return {};
  }
  void* begin = MAP_FAILED;
  if (::fstat(file, &state) == 0 && S_ISREG(state.st_mode) && state.st_size > 0) {
    begin = ::mmap(nullptr, static_cast<size_t>(state.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  ::close(file);
  return begin == MAP_FAILED
             ? Bytes{}
             : Bytes{static_cast<const std::byte*>(begin), static_cast<size_t>(state.st_size)};
}

} // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->bytes_ = mapping(path);
  file->mapped_ = !file->bytes_.empty();
  if (!file->mapped_) {
    auto read = readFile(path, largestModel); // which says what is wrong with it
    if (!read) {
      return read.errors();
    }
    file->own_ = *std::move(read);
    file->bytes_ = file->own_;
  }
  return std::shared_ptr<const MappedFile>(std::move(file));
}

std::shared_ptr<const MappedFile> MappedFile::ofBytes(Bytes bytes) {
  std::shared_ptr<MappedFile> file(new MappedFile);
  file->own_.assign(bytes.begin(), bytes.end());
  file->bytes_ = file->own_;
  return file;
}

MappedFile::~MappedFile() {
  if (mapped_) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

} // namespace dfc::onnx
