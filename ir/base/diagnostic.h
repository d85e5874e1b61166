// What we say to an author whose input is wrong: a located message with a hint; and Result<T>, a value or all
// the messages at once. Rendering follows compilers: file:line:column, the line itself, a caret, the way out.
#pragma once

#include "ir/base/assert.h"
#include "ir/base/visibility.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace DFC_PUBLIC dfc {

/// A place in a text. `line` and `column` (in code points) count from 1; 0 means not known. `file` may be
/// empty (an object in memory).
struct SourceLocation {
  std::string file;    ///< as it was named
  uint32_t line = 0;   ///< from 1
  uint32_t column = 0; ///< in code points, from 1
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// How bad it is.
enum class Severity : uint8_t { Error, Warning };

/// One mistake, where it is, and the way out.
struct Diagnostic {
  /// Errors stop the work; warnings do not.
  Severity severity = Severity::Error;
  /// The place of the mistake.
  SourceLocation where;
  std::string message;       ///< one sentence, no full stop, lower case first letter
  std::string hint = {};     ///< the way out; empty when there is nothing to add
  std::string lineText = {}; ///< the source line, without its end; empty when there is none
  uint32_t width = 1;        ///< how many columns the caret underlines
  uint32_t lineStart = 1;    ///< column of the first letter of lineText; more than 1 where a long line is cut
  std::string note = {}; ///< what the place alone does not say: which call of a function that is called often
};

/// Several at once.
using Diagnostics = std::vector<Diagnostic>;

/// "file:line:column: error: message", then the line with a caret below it, then "note: …" and "hint: …".
/// Ends with a newline.
std::string render(const Diagnostic& diagnostic);
/// The same of each, in order.
std::string render(const Diagnostics& diagnostics);

/// The same with the author's scope as its note, where it is in one.
Diagnostic inScope(Diagnostic diagnostic, std::string_view scope);

/// One diagnostic with a message and a hint but no place in a text.
Diagnostic errorWithoutPlace(std::string message, std::string hint = {});

/// The candidate nearest to `word` by edit distance, when near enough to be a likely slip (at most a third of
/// its letters), for "did you mean …" hints.
std::optional<std::string> nearestName(const std::string& word, const std::vector<std::string>& candidates);

/// What Result::orThrow throws: the author's mistakes, rendered in `what()` without the last newline.
class Error : public std::runtime_error {
 public:
  /// The errors that it carries.
  explicit Error(Diagnostics errors);
  /// What went wrong.
  const Diagnostics& diagnostics() const { return *diagnostics_; }

 private:
  std::shared_ptr<const Diagnostics> diagnostics_; // an exception's copies must not throw
};

/// A T, perhaps with warnings beside it, or at least one error.
template <class T>
class [[nodiscard]] Result {
 public:
  /// A success.
  Result(T value) : value_(std::move(value)) {}
  /// A failure; at least one error.
  Result(Diagnostics errors) : errors_(std::move(errors)) {
    DFC_ASSERT(!errors_.empty(), "a failed Result must say why");
  }
  /// A failure of one error.
  Result(Diagnostic error) { errors_.push_back(std::move(error)); }

  /// Whether there is a value. Reading the value of a failed Result throws Error with its mistakes, as
  /// orThrow does.
  bool ok() const { return value_.has_value(); }
  /// As ok().
  explicit operator bool() const { return ok(); }
  /// Why there is no value; empty where there is one.
  const Diagnostics& errors() const { return errors_; }
  /// Warnings about the value. Code that takes the value out passes them on.
  const Diagnostics& warnings() const { return warnings_; }
  /// The same with these warnings behind its own.
  Result withWarnings(const Diagnostics& more) && {
    warnings_.insert(warnings_.end(), more.begin(), more.end());
    return std::move(*this);
  }
  /// The value; throws Error where there is none. For programs that handle mistakes in one place. Warnings
  /// are dropped: read them before.
  T orThrow() && {
    if (!ok()) {
      throw Error(std::move(errors_));
    }
    return std::move(*value_);
  }
  /// The same, and the result keeps the value.
  const T& orThrow() const& {
    if (!ok()) {
      throw Error(errors_);
    }
    return *value_;
  }
  /// The value; throws Error where there is none, as orThrow does.
  T& operator*() & { return get(); }
  /// Likewise.
  const T& operator*() const& { return const_cast<Result*>(this)->get(); }
  /// Likewise, moved out.
  T&& operator*() && { return std::move(get()); }
  /// Likewise.
  T* operator->() { return &get(); }
  /// Likewise.
  const T* operator->() const { return &const_cast<Result*>(this)->get(); }

 private:
  T& get() {
    if (!ok()) {
      throw Error(errors_);
    }
    return *value_;
  }
  std::optional<T> value_;
  Diagnostics errors_, warnings_;
};

/// Success, or at least one error.
struct Success {};
/// A result without a value.
using Status = Result<Success>;
/// The success that a Status holds.
inline Status success() { return Status(Success{}); }

} // namespace dfc
