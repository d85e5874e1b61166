#include "ir/base/string_pool.h"

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

void StringPool::Characters::hold(const Characters& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
}

StringId StringPool::intern(std::string_view text) {
  if (const StringId known = find(text); known.valid()) {
    return known;
  }
  const StringId id(static_cast<uint32_t>(size()));
  own_.strings.push_back(own_.characters.keep(text));
  own_.ids.try_emplace(keyOf(own_.strings.back()), id);
  return id;
}

StringId StringPool::find(std::string_view text) const {
  const auto key = keyOf(text);
  const auto among = [&](const Strings& strings) {
    const auto found = strings.ids.find(key);
    return found == strings.ids.end() ? StringId() : found->second;
  };
  const StringId shared = base_ == nullptr ? StringId() : among(*base_);
  return shared.valid() ? shared : among(own_);
}

void StringPool::settle() {
  if (own_.strings.size() <= shared_) {
    return;
  }
  Strings all;
  if (base_ == nullptr) {
    all = std::exchange(own_, Strings());
  } else {
    all = *base_;
    all.characters.hold(own_.characters);
    for (const std::string_view text : own_.strings) {
      all.ids.try_emplace(keyOf(text), StringId(static_cast<uint32_t>(all.strings.size())));
      all.strings.push_back(text);
    }
    own_ = Strings();
  }
  shared_ = all.strings.size();
  base_ = std::make_shared<const Strings>(std::move(all));
}

} // namespace dfc
