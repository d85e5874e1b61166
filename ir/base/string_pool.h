// StringPool: each distinct string once, named by a StringId. Id 0 is the empty string. A copy gives every
// string the id that it had, so that a graph made from another keeps its ids. A copy of a settled pool is
// cheap, however many strings there are: both share one immutable table, and each adds to a table of its own.
#pragma once

#include "ir/base/id_map.h"

#include <llvm/ADT/CachedHashString.h>

#include <memory>
#include <string_view>
#include <vector>

namespace dfc {

class StringPool {
 public:
  StringPool() { intern(""); }

  StringId intern(std::string_view text);
  StringId find(std::string_view text) const; ///< invalid id when it was never interned
  std::string_view operator[](StringId id) const {
    return id.index() < shared_ ? base_->strings[id.index()] : own_.strings[id.index() - shared_];
  }
  size_t size() const { return shared_ + own_.strings.size(); }
  /// Makes the present strings immutable and shared by later copies; does nothing where few were added since
  /// the last call.
  void settle();

 private:
  /// Characters that never move. A copy shares the blocks and adds to blocks of its own.
  class Characters {
   public:
    Characters() = default;
    Characters(const Characters& other) : blocks_(other.blocks_) {}
    Characters(Characters&& other) noexcept { *this = std::move(other); }
    Characters& operator=(const Characters& other);
    Characters& operator=(Characters&& other) noexcept;
    ~Characters() = default;
    std::string_view keep(std::string_view text);
    void hold(const Characters& other); ///< shares the blocks of the other

   private:
    std::vector<std::shared_ptr<char[]>> blocks_;
    char* free_ = nullptr;
    size_t left_ = 0;
  };

  struct Strings {
    Characters characters;
    std::vector<std::string_view> strings;
    llvm::DenseMap<llvm::CachedHashStringRef, StringId> ids; // with its hash, so that growing reads no string
  };
  std::shared_ptr<const Strings> base_; // null before the first `settle`
  size_t shared_ = 0;                   // strings of the base; own ids count on from there
  Strings own_;
};

} // namespace dfc
