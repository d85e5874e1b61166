#include "ir/string_pool.h"

#include <algorithm>
#include <utility>

namespace dfc {
namespace {

constexpr size_t leastBlock = 1 << 10, mostBlock = 1 << 18; // bytes

llvm::CachedHashStringRef keyOf(std::string_view text) {
  return llvm::CachedHashStringRef(llvm::StringRef(text.data(), text.size()));
}

} // namespace

StringPool::Characters& StringPool::Characters::operator=(const Characters& other) {
  if (this != &other) {
    *this = Characters(other);
  }
  return *this;
}

StringPool::Characters& StringPool::Characters::operator=(Characters&& other) noexcept {
  blocks_ = std::move(other.blocks_);
  free_ = std::exchange(other.free_, nullptr);
  left_ = std::exchange(other.left_, 0);
  return *this;
}

std::string_view StringPool::Characters::keep(std::string_view text) {
  if (text.size() > left_) {
    const size_t grown = leastBlock << std::min<size_t>(blocks_.size(), 8);
    left_ = std::max(text.size(), std::min(grown, mostBlock));
    blocks_.push_back(std::make_shared<char[]>(left_));
    free_ = blocks_.back().get();
  }
  char* const place = free_;
  std::copy(text.begin(), text.end(), place);
  free_ += text.size();
  left_ -= text.size();
  return {place, text.size()};
}

StringId StringPool::intern(std::string_view text) {
  if (const StringId known = find(text); known.valid()) {
    return known;
  }
  const StringId id(static_cast<uint32_t>(strings_.size()));
  strings_.push_back(characters_.keep(text));
  ids_.try_emplace(keyOf(strings_.back()), id);
  return id;
}

StringId StringPool::find(std::string_view text) const {
  const auto found = ids_.find(keyOf(text));
  return found == ids_.end() ? StringId() : found->second;
}

} // namespace dfc
