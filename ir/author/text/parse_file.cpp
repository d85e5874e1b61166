// The outermost part of the parser: the file, `graph NAME { … }`, blocks and their braces, and names.
#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"

#include <fmt/format.h>

namespace dfc::text {
namespace {

constexpr int deepest = 200;

} // namespace

Parser::Parser(std::string_view text, const std::string& fileName)
    : complaints_(text, fileName), tokens_(text, complaints_), symbols_(complaints_) {
  provenance_.where.file = fileName;
}

Result<Graph> Parser::run() {
  readFile();
  symbols_.complainOfUndefined();
  if (complaints_.any()) {
    return std::move(complaints_).sorted();
  }
  return std::move(builder_).finish();
}

bool Parser::Depth::fine() const {
  if (parser_.depth_ <= deepest) {
    return true;
  }
  if (!parser_.abandoned_) {
    parser_.complaints_.add(
        spanOf(parser_.tokens_.now()), fmt::format("nested more than {} levels deep", deepest),
        "name an inner part in a statement of its own; nested scopes can be one: scope \"a/b\"");
  }
  return false;
}

void Parser::readFile() {
  tokens_.skipNewlines();
  const Token header = tokens_.now();
  if (!readHeader()) {
    return;
  }
  enterBlock(header);
  readNested(header);
  readAfterEnd();
}

bool Parser::readHeader() {
  const Token word = tokens_.now();
  if (word.kind != TokenKind::Name || word.text != "graph") {
    return tokens_.unexpected("'graph NAME {'", "a graph file is: graph NAME { statements }");
  }
  tokens_.take();
  std::string_view name;
  if (readName("a name for the graph", name)) {
    builder_ = GraphBuilder(std::string(name));
  }
  return true;
}

void Parser::readBlock() {
  while (!abandoned_ && !complaints_.full()) {
    tokens_.skipNewlines();
    if (tokens_.at(TokenKind::End) || tokens_.at(TokenKind::CloseBlock)) {
      return;
    }
    readStatement();
  }
}

// Where the '{' is missing, the block is read all the same: its '}' is probably there.
void Parser::enterBlock(const Token& header) {
  tokens_.continueLineAt(TokenKind::OpenBlock);
  if (!tokens_.accept(TokenKind::OpenBlock)) {
    tokens_.unexpected("'{'", "a block is written { … }");
    tokens_.recover(header);
    bracesSaid_ = !tokens_.accept(TokenKind::OpenBlock) || bracesSaid_;
  }
}

void Parser::readNested(const Token& header) {
  const Depth depth(*this);
  if (!depth.fine()) {
    abandoned_ = true;
    return;
  }
  ++openBlocks_;
  readBlock();
  closeBlock(header);
  --openBlocks_;
}

void Parser::closeBlock(const Token& header) {
  if (abandoned_ || complaints_.full()) {
    return;
  }
  if (tokens_.accept(TokenKind::CloseBlock)) {
    const Token& brace = tokens_.last();
    if (!doubtfulBlock_ && brace.line != header.line && brace.column < header.column) {
      doubtfulBlock_ = header;
    }
    return;
  }
  if (!bracesSaid_) {
    bracesSaid_ = true;
    complaints_.add(spanOf(doubtfulBlock_.value_or(header)), "the block that starts here is never closed",
                    "a '}' is missing: the file ends inside a block");
  }
}

// A '}' too many ends the graph early; what follows is read all the same, for its own errors.
void Parser::readAfterEnd() {
  const Token brace = tokens_.last();
  while (!abandoned_ && !complaints_.full()) {
    tokens_.skipNewlines();
    if (tokens_.at(TokenKind::End)) {
      return;
    }
    if (!bracesSaid_ && tokens_.now().text == "graph") {
      return complaints_.add(spanOf(tokens_.now()), "a second graph in the file", "one file holds one graph");
    }
    if (!bracesSaid_) {
      bracesSaid_ = true;
      complaints_.add(spanOf(brace), "this '}' closes the graph, but the file goes on",
                      "remove it, or the '}' too many above it");
    }
    if (!tokens_.accept(TokenKind::CloseBlock)) {
      readBlock();
    }
  }
}

// The bytes of a name in either form; none, and said, when a quoted one cannot be read or is too long.
std::optional<std::string_view> Parser::bytesOf(const Token& token) {
  std::string_view bytes = token.text;
  if (token.kind == TokenKind::String) {
    bytes = token.text.substr(1, token.text.size() - 2);
    if (bytes.find('\\') != std::string_view::npos) {
      auto unescaped = unquote(token.text);
      if (!unescaped) {
        complaints_.add(spanOf(token), "this string has an escape that is not known",
                        std::string(knownEscapes));
        return std::nullopt;
      }
      bytes = kept_.emplace_back(std::move(*unescaped));
    }
  }
  if (bytes.size() > longestName) {
    complaints_.add(spanOf(token), fmt::format("a name of {} bytes", bytes.size()),
                    fmt::format("a name may have at most {}", longestName));
    return std::nullopt;
  }
  return bytes;
}

bool Parser::readName(const std::string& wanted, std::string_view& out) {
  if (!TokenStream::isName(tokens_.now())) {
    return tokens_.unexpected(wanted);
  }
  const auto bytes = bytesOf(tokens_.take());
  out = bytes.value_or("");
  return bytes.has_value();
}

} // namespace dfc::text
