// A file's bytes, mapped into memory and never written: pages are read when they are looked at, and given up
// when memory is short. Assumes that nobody cuts the file short meanwhile.
#pragma once

#include "ir/author/onnx/wire.h"
#include "ir/base/diagnostic.h"

#include <memory>
#include <string>

namespace dfc::onnx {

class MappedFile {
 public:
  /// A pipe that this process was given (/dev/stdin) is read to its end instead. Error: no file that can be
  /// read.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  /// Of bytes in memory, which are copied.
  static std::shared_ptr<const MappedFile> ofBytes(Bytes bytes);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  Bytes bytes() const { return bytes_; }

 private:
  MappedFile() = default;
  Bytes bytes_;
  bool mapped_ = false;
  std::vector<std::byte> own_; ///< where it is not mapped
};

} // namespace dfc::onnx
