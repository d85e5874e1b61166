// The words of a graph file. A hand-written lexer over the text in memory: no allocation, no copies, one
// pass. It never fails: bytes that make no word come out as a Bad token, and the parser says what is wrong
// there.
#pragma once

#include <cstdint>
#include <string_view>

namespace dfc::text {

enum class TokenKind : uint8_t {
  End,
  Newline, ///< one or more ends of line
  Name,
  String, ///< text with its quotes, escapes not yet read
  Number, ///< anything that starts like a number; whether it is one is asked when it is read
  OpenParen,
  CloseParen,
  OpenList,
  CloseList,
  OpenBlock,
  CloseBlock,
  Comma,
  Equals,
  Colon,
  Plus,
  Minus,
  Star,
  Slash,
  Bad, ///< an unterminated string (starts with a quote), a name with letters beyond ASCII, or a stray byte
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text; ///< as it stands in the file
  uint32_t line = 1;     ///< from 1
  uint32_t column = 1;   ///< from 1, in code points
};

class Lexer {
 public:
  /// `text` must be UTF-8, shorter than 4 GiB, and outlive the tokens.
  explicit Lexer(std::string_view text);
  Token next();

 private:
  void skipBlanks();
  void skipComment();
  Token newline();
  Token name();
  Token number();
  Token string();
  Token stray();
  Token take(TokenKind kind, const char* end);
  uint32_t columnHere() const;

  const char* at_;
  const char* end_;
  const char* lineBegin_;
  uint32_t line_ = 1;
  uint32_t continuationBytes_ = 0; // of multi-byte letters, on this line so far
};

} // namespace dfc::text
