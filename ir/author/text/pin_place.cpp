#include "ir/author/text/pin_place.h"

#include "ir/author/text/complaints.h"
#include "ir/author/text/quote.h"

namespace dfc {
namespace {

bool names(const text::Token& token, std::string_view device) {
  return (token.kind == text::TokenKind::Name && token.text == device) ||
         (token.kind == text::TokenKind::String && text::unquote(token.text) == device);
}

} // namespace

std::optional<Diagnostic> errorAtPin(std::string_view text, const std::string& fileName,
                                     std::string_view device, std::string message, std::string hint) {
  text::Lexer lexer(text);
  text::Token word = lexer.next(), name = lexer.next();
  while (name.kind != text::TokenKind::End) {
    const text::Token after = lexer.next();
    // A value may be called `on`; only a block makes it the word.
    if (word.text == "on" && names(name, device) && after.kind == text::TokenKind::OpenBlock) {
      text::Complaints complaints(text, fileName);
      complaints.add(text::spanOf(word, name), std::move(message), std::move(hint));
      return std::move(complaints).sorted().front();
    }
    word = name;
    name = after;
  }
  return std::nullopt;
}

} // namespace dfc
