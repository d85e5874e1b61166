// See lexer.h. Letters are classified by a table; columns are kept as byte offsets less the continuation
// bytes passed on the line, so that a long line costs nothing extra.
#include "ir/author/text/lexer.h"
#include "ir/base/utf8.h"

#include <algorithm>
#include <array>

namespace dfc::text {
namespace {

enum LetterClass : uint8_t { Other = 0, Letter = 1, Digit = 2, Dot = 4, Beyond = 8 };

constexpr std::array<uint8_t, 256> makeClasses() {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) {
    classes[static_cast<size_t>(c)] = Letter;
  }
  for (int c = 'A'; c <= 'Z'; ++c) {
    classes[static_cast<size_t>(c)] = Letter;
  }
  for (int c = '0'; c <= '9'; ++c) {
    classes[static_cast<size_t>(c)] = Digit;
  }
  for (int c = 128; c < 256; ++c) {
    classes[static_cast<size_t>(c)] = Beyond;
  }
  classes['_'] = Letter;
  classes['.'] = Dot;
  return classes;
}

constexpr std::array<uint8_t, 256> classes = makeClasses();

uint8_t classOf(char c) { return classes[static_cast<unsigned char>(c)]; }

TokenKind punctuation(char c) {
  switch (c) {
  case '(': return TokenKind::OpenParen;
  case ')': return TokenKind::CloseParen;
  case '[': return TokenKind::OpenList;
  case ']': return TokenKind::CloseList;
  case '{': return TokenKind::OpenBlock;
  case '}': return TokenKind::CloseBlock;
  case ',': return TokenKind::Comma;
  case '=': return TokenKind::Equals;
  case ':': return TokenKind::Colon;
  case '+': return TokenKind::Plus;
  case '-': return TokenKind::Minus;
  case '*': return TokenKind::Star;
  case '/': return TokenKind::Slash;
  default: return TokenKind::Bad;
  }
}

// A sign belongs to the number after the mark of an exponent: e in decimal, p in hexadecimal.
bool signBelongs(const char* begin, const char* at) {
  const bool hexadecimal = at - begin > 1 && begin[0] == '0' && (begin[1] == 'x' || begin[1] == 'X');
  const char mark = static_cast<char>(at[-1] | 0x20);
  return (*at == '+' || *at == '-') && mark == (hexadecimal ? 'p' : 'e');
}

} // namespace

Lexer::Lexer(std::string_view text) : at_(text.data()), end_(text.data() + text.size()), lineBegin_(at_) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") { // a byte order mark is no part of the first line
    at_ += 3;
    lineBegin_ = at_;
  }
}

Token Lexer::next() {
  skipBlanks();
  if (at_ == end_) {
    return take(TokenKind::End, at_);
  }
  const uint8_t letter = classOf(*at_);
  if ((letter & (Letter | Beyond)) != 0) {
    return name();
  }
  if (letter == Digit || (letter == Dot && at_ + 1 != end_ && classOf(at_[1]) == Digit)) {
    return number();
  }
  if (*at_ == '\n') {
    return newline();
  }
  if (*at_ == '"') {
    return string();
  }
  const TokenKind kind = punctuation(*at_);
  return kind == TokenKind::Bad ? stray() : take(kind, at_ + 1);
}

void Lexer::skipBlanks() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '#')) {
    if (*at_ == '#') {
      skipComment();
    } else {
      ++at_;
    }
  }
}

void Lexer::skipComment() {
  while (at_ != end_ && *at_ != '\n') {
    continuationBytes_ += isContinuation(*at_) ? 1 : 0;
    ++at_;
  }
}

Token Lexer::newline() {
  const Token token = take(TokenKind::Newline, at_ + 1);
  while (true) {
    lineBegin_ = at_;
    continuationBytes_ = 0;
    ++line_;
    skipBlanks();
    if (at_ == end_ || *at_ != '\n') {
      return token;
    }
    ++at_;
  }
}

Token Lexer::name() {
  const char* last = at_;
  uint8_t seen = 0;
  while (last != end_ && classOf(*last) != Other) {
    seen |= classOf(*last++);
  }
  return take((seen & Beyond) != 0 ? TokenKind::Bad : TokenKind::Name, last);
}

Token Lexer::number() {
  const char* last = at_ + 1;
  while (last != end_ && ((classOf(*last) & (Letter | Digit | Dot)) != 0 || signBelongs(at_, last))) {
    ++last;
  }
  return take(TokenKind::Number, last);
}

Token Lexer::string() {
  const char* last = at_ + 1;
  while (last != end_ && *last != '"' && *last != '\n') {
    last += *last == '\\' && last + 1 != end_ && last[1] != '\n' ? 2 : 1;
  }
  if (last == end_ || *last == '\n') {
    while (last[-1] == '\r') {
      --last;
    }
    return take(TokenKind::Bad, last);
  }
  return take(TokenKind::String, last + 1);
}

Token Lexer::stray() { return take(TokenKind::Bad, at_ + 1); }

Token Lexer::take(TokenKind kind, const char* end) {
  const Token token{kind, {at_, static_cast<size_t>(end - at_)}, line_, columnHere()};
  if (kind == TokenKind::String || kind == TokenKind::Bad) {
    continuationBytes_ += static_cast<uint32_t>(std::count_if(at_, end, isContinuation));
  }
  at_ = end;
  return token;
}

uint32_t Lexer::columnHere() const {
  return static_cast<uint32_t>(at_ - lineBegin_) - continuationBytes_ + 1;
}

} // namespace dfc::text
