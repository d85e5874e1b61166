// The tokens of a file with one of look-ahead, and the small questions that a parser asks all the time.
#pragma once

#include "ir/author/text/complaints.h"

#include <string>

namespace dfc::text {

class TokenStream {
 public:
  TokenStream(std::string_view text, Complaints& complaints);

  const Token& now() const { return now_; }
  const Token& ahead() const { return ahead_; }
  const Token& last() const { return last_; } ///< the latest taken
  bool at(TokenKind kind) const { return now_.kind == kind; }
  bool atEndOfStatement() const {
    return at(TokenKind::Newline) || at(TokenKind::CloseBlock) || at(TokenKind::End);
  }
  Token take();
  bool accept(TokenKind kind);
  void skipNewlines();
  /// Passes over ends of line when the next word is of this kind.
  void continueLineAt(TokenKind kind);

  /// Takes a token of this kind, or says that `wanted` stands in its place; false then.
  bool expect(TokenKind kind, const std::string& wanted, const std::string& hint = {});
  /// "expected `wanted`, found …" at the current token, or what is wrong with a Bad one. Always false.
  bool unexpected(const std::string& wanted, const std::string& hint = {});

  /// After an error in a statement that began with `first`: passes over what is left of it, and over the
  /// lines that continue it inside an open parenthesis. Stops before '}', the next statement, or a '{'.
  void recover(const Token& first);

  /// A name in either form, as its bytes; `keep` holds them where a quoted one has escapes.
  static bool isName(const Token& token) {
    return token.kind == TokenKind::Name || token.kind == TokenKind::String;
  }

 private:
  Lexer lexer_;
  Complaints& complaints_;
  Token now_, ahead_, last_;
  int open_ = 0; // parentheses and lists
};

} // namespace dfc::text
