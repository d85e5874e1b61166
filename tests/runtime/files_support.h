// What the tests of runtime/files share: texts as bytes, a literal of every type, a folder of their own.
#pragma once

#include "ir/literal.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

namespace dfc::test {

inline std::vector<std::byte> bytesOf(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(),
                 [](char letter) { return static_cast<std::byte>(letter); });
  return bytes;
}

inline std::string textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Elements 0, 1, 2, … (bool: 0, 1, 0, …).
inline Literal counting(const TensorType& type) {
  Literal literal(type);
  for (int64_t i = 0; i < type.shape.elements(); ++i) {
    literal.set(i, type.element == ElementType::Bool ? static_cast<double>(i % 2) : static_cast<double>(i));
  }
  return literal;
}

/// An empty folder for one test case, removed with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dfc-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  size_t fileCount() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

} // namespace dfc::test
