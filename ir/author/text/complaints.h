// The errors of one file: each with its line and a caret, sorted by place, and never more than a person
// reads.
#pragma once

#include "ir/author/text/lexer.h"
#include "ir/base/diagnostic.h"

namespace dfc::text {

/// A range of the file.
struct Span {
  const char* begin = nullptr;
  const char* end = nullptr;
  uint32_t line = 0, column = 0;
};

Span spanOf(const Token& token);
/// From the start of `first` to the end of `last`.
Span spanOf(const Token& first, const Token& last);

class Complaints {
 public:
  static constexpr size_t most = 1000;

  Complaints(std::string_view text, std::string fileName) : text_(text), fileName_(std::move(fileName)) {}
  void add(const Span& where, std::string message, std::string hint = {});
  bool any() const { return !errors_.empty(); }
  bool full() const { return errors_.size() >= most; }
  /// All of them in the order of the file, with a last word when some were left out.
  Diagnostics sorted() &&;
  const std::string& fileName() const { return fileName_; }

 private:
  void quoteLine(const Span& where, Diagnostic& diagnostic) const;
  std::string_view text_;
  std::string fileName_;
  Diagnostics errors_;
};

} // namespace dfc::text
