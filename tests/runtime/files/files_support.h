// What the tests of runtime/files share: texts as bytes, a literal of every type.
#pragma once

#include "ir/graph/literal.h"
#include "tests/support/temporary_folder.h"

#include <algorithm>
#include <string>
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

} // namespace dfc::test
