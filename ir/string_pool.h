// StringPool: each distinct string once, named by a StringId. Id 0 is the empty string. A copy is cheap: it
// shares the characters and gives every string the id that it had, so that a graph made from another keeps
// its ids.
#pragma once

#include "ir/ids.h"

#include <llvm/ADT/CachedHashString.h>
#include <llvm/ADT/DenseMap.h>

#include <memory>
#include <string_view>
#include <vector>

namespace dfc {

class StringPool {
 public:
  StringPool() { intern(""); }

  StringId intern(std::string_view text);
  StringId find(std::string_view text) const; ///< invalid id when it was never interned
  std::string_view operator[](StringId id) const { return strings_[id.index()]; }
  size_t size() const { return strings_.size(); }

 private:
  /// Characters that never move. A copy holds on to them, and takes blocks of its own for what it adds.
  class Characters {
   public:
    Characters() = default;
    Characters(const Characters& other) : blocks_(other.blocks_) {}
    Characters(Characters&& other) noexcept { *this = std::move(other); }
    Characters& operator=(const Characters& other);
    Characters& operator=(Characters&& other) noexcept;
    ~Characters() = default;
    std::string_view keep(std::string_view text);

   private:
    std::vector<std::shared_ptr<char[]>> blocks_;
    char* free_ = nullptr;
    size_t left_ = 0;
  };

  Characters characters_;
  std::vector<std::string_view> strings_;
  llvm::DenseMap<llvm::CachedHashStringRef, StringId> ids_; // with its hash, so that growing reads no string
};

} // namespace dfc
