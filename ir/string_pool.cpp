#include "ir/string_pool.h"

namespace dfc {

StringPool::StringPool() { intern(""); }

StringPool::StringPool(const StringPool& other) {
  for (const std::string& text : other.strings_) {
    intern(text);
  }
}

StringPool& StringPool::operator=(const StringPool& other) {
  if (this != &other) {
    *this = StringPool(other);
  }
  return *this;
}

StringId StringPool::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) {
    return found->second;
  }
  const StringId id(static_cast<uint32_t>(strings_.size()));
  strings_.emplace_back(text);
  ids_.emplace(strings_.back(), id);
  return id;
}

StringId StringPool::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found == ids_.end() ? StringId() : found->second;
}

} // namespace dfc
