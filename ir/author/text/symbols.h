// The values that a graph file names. A name is defined once and before its use; what breaks that is said
// once a name, at the end of the file, when it is known whether the definition comes later or never.
#pragma once

#include "ir/author/text/complaints.h"
#include "ir/base/ids.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringRef.h>

#include <vector>

namespace dfc::text {

class Symbols {
 public:
  explicit Symbols(Complaints& complaints) : complaints_(complaints) {}

  /// A statement begins: what it uses before it declares its names is what they are made of.
  void beginStatement() { usedHere_.clear(); }

  /// The value of a name; invalid when it has none (which is said at the end) or when its definition went
  /// wrong (which was said there).
  ValueId use(std::string_view name, const Token& where);

  /// Whether `name` is new. Otherwise says so, and later uses of the name are passed over in silence.
  bool declare(std::string_view name, const Token& where);
  /// Lets later uses of a name pass in silence, unless it has a definition.
  void poison(std::string_view name, const Token& where);
  /// Gives a declared name its value. Without it the name stands for something that went wrong.
  void define(std::string_view name, ValueId value);

  /// Says which names were used before their definition or never defined.
  void complainOfUndefined();

 private:
  struct Symbol {
    ValueId value;
    uint32_t declaredLine = 0; // 0: not declared
    bool usedTooEarly = false;
  };
  std::string hintFor(std::string_view name);
  std::string hintForEarly(std::string_view name, const Token& where);
  std::vector<std::string_view> circleOf(std::string_view name);
  // Keys point into the file's text or into strings that the parser keeps.
  llvm::DenseMap<llvm::StringRef, Symbol> symbols_;
  std::vector<std::pair<std::string_view, Token>> usedTooEarly_;
  // Since the first name that was used too early; before it there can be no circle.
  std::vector<llvm::StringRef> usedHere_;
  llvm::DenseMap<llvm::StringRef, std::vector<llvm::StringRef>> madeOf_;
  Complaints& complaints_;
  size_t effort_ = 0, circleEffort_ = 0; // spent on hints
};

} // namespace dfc::text
