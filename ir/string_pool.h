// StringPool: each distinct string once, named by a StringId. Id 0 is the empty string.
#pragma once

#include "ir/ids.h"

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dfc {

class StringPool {
 public:
  StringPool();
  StringPool(const StringPool& other);
  StringPool(StringPool&& other) noexcept = default;
  StringPool& operator=(const StringPool& other);
  StringPool& operator=(StringPool&& other) noexcept = default;
  ~StringPool() = default;

  StringId intern(std::string_view text);
  StringId find(std::string_view text) const; ///< invalid id when it was never interned
  std::string_view operator[](StringId id) const { return strings_[id.index()]; }

 private:
  std::deque<std::string> strings_; // a deque never moves its elements, so the keys below stay good
  std::unordered_map<std::string_view, StringId> ids_;
};

} // namespace dfc
