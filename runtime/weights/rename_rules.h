// Rules that give the tensors of a file other names, other orders of their axes and other element types: what
// is needed where a model and its published weights do not agree. The README of this folder has the format.
#pragma once

#include "ir/base/diagnostic.h"
#include "ir/base/visibility.h"
#include "ir/graph/literal.h"

#include <memory>
#include <string>
#include <string_view>

namespace DFC_PUBLIC dfc {

/// A list of rules, of which the first that matches a name decides.
class RenameRules {
 public:
  /// No rule: every tensor stays as it is.
  RenameRules();
  /// Every mistake at once, with line and column.
  static Result<RenameRules> parse(std::string_view text, const std::string& fileName);
  /// The same of a file.
  static Result<RenameRules> read(const std::string& path);

  /// The tensors by their new names. Errors, all at once: two that get one name, axes that a tensor does not
  /// have. `file` is for messages. Names of more than 1000 bytes match no rule.
  Result<NamedLiterals> apply(const NamedLiterals& tensors, const std::string& file) const;

 private:
  struct Rule;
  struct Rules;
  std::shared_ptr<const Rules> rules_;
};

} // namespace dfc
