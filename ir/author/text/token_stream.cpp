// See token_stream.h.
#include "ir/author/text/token_stream.h"
#include "ir/author/text/foreign_words.h"
#include "ir/author/text/quote.h"
#include "ir/base/utf8.h"

#include <fmt/format.h>

namespace dfc::text {
namespace {

std::string described(const Token& token) {
  switch (token.kind) {
  case TokenKind::End: return "the end of the file";
  case TokenKind::Newline: return "the end of the line";
  default: return shown(token.text);
  }
}

// A name with letters beyond ASCII, an unterminated string, or a byte that no word holds.
std::pair<std::string, std::string> whatIsBad(const Token& token) {
  if (token.text.front() == '"') {
    return {"this string has no closing quote on its line", "end it with '\"'; write a quote inside as \\\""};
  }
  if (token.text.size() > 1) {
    return {fmt::format("{} has letters beyond a-z, A-Z, 0-9, '_' and '.'", shown(token.text)),
            fmt::format("put the name in quotes: \"{}\"", token.text)};
  }
  return {fmt::format("unexpected character {}", shown(token.text)), hintForCharacter(token.text.front())};
}

} // namespace

TokenStream::TokenStream(std::string_view text, Complaints& complaints)
    : lexer_(text), complaints_(complaints) {
  now_ = lexer_.next();
  ahead_ = lexer_.next();
  last_ = Token{TokenKind::Newline, text.substr(0, 0), 1, 1};
}

Token TokenStream::take() {
  const TokenKind kind = now_.kind;
  open_ += kind == TokenKind::OpenParen || kind == TokenKind::OpenList ? 1 : 0;
  open_ -= kind == TokenKind::CloseParen || kind == TokenKind::CloseList ? 1 : 0;
  last_ = now_;
  now_ = ahead_;
  if (ahead_.kind != TokenKind::End) {
    ahead_ = lexer_.next();
  }
  return last_;
}

bool TokenStream::accept(TokenKind kind) {
  if (!at(kind)) {
    return false;
  }
  take();
  return true;
}

void TokenStream::skipNewlines() {
  while (at(TokenKind::Newline)) {
    const Token before = last_; // an end of line is no place to point at
    take();
    last_ = before;
  }
}

void TokenStream::continueLineAt(TokenKind kind) {
  if (at(TokenKind::Newline) && ahead_.kind == kind) {
    skipNewlines();
  }
}

bool TokenStream::expect(TokenKind kind, const std::string& wanted, const std::string& hint) {
  return accept(kind) || unexpected(wanted, hint);
}

bool TokenStream::unexpected(const std::string& wanted, const std::string& hint) {
  if (at(TokenKind::Bad)) {
    auto [problem, wayOut] = whatIsBad(now_);
    complaints_.add(spanOf(now_), std::move(problem), std::move(wayOut));
  } else if (at(TokenKind::Newline) || at(TokenKind::End)) {
    const char* end = last_.text.data() + last_.text.size(); // just after the last word, not in a comment
    const Span place{end, end, last_.line, last_.column + codePoints(last_.text)};
    complaints_.add(place, fmt::format("expected {}, found {}", wanted, described(now_)), hint);
  } else {
    complaints_.add(spanOf(now_), fmt::format("expected {}, found {}", wanted, described(now_)), hint);
  }
  return false;
}

void TokenStream::recover(const Token& first) {
  while (!at(TokenKind::End) && !at(TokenKind::CloseBlock) && !at(TokenKind::OpenBlock)) {
    if (at(TokenKind::Newline) && (open_ <= 0 || ahead_.column <= first.column)) {
      break;
    }
    take();
  }
  open_ = 0;
}

} // namespace dfc::text
