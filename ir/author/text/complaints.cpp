// See complaints.h. A line of more than a few hundred bytes is cut around the place, so that a file of one
// endless line costs no more than any other.
#include "ir/author/text/complaints.h"
#include "ir/base/utf8.h"

#include "ir/author/text/quote.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace dfc::text {
namespace {

constexpr std::ptrdiff_t bytesBefore = 160;
constexpr std::ptrdiff_t bytesAfter = 200;
constexpr std::string_view cut = "…";

} // namespace

Span spanOf(const Token& token) { return spanOf(token, token); }

Span spanOf(const Token& first, const Token& last) {
  return {first.text.data(), last.text.data() + last.text.size(), first.line, first.column};
}

void Complaints::add(const Span& where, std::string message, std::string hint) {
  if (full()) {
    return;
  }
  Diagnostic diagnostic{
      Severity::Error, {fileName_, where.line, where.column}, std::move(message), std::move(hint)};
  quoteLine(where, diagnostic);
  errors_.push_back(std::move(diagnostic));
}

void Complaints::quoteLine(const Span& where, Diagnostic& diagnostic) const {
  const char* textBegin = text_.data();
  const char* textEnd = textBegin + text_.size();
  const char* begin = where.begin - std::min(bytesBefore, where.begin - textBegin);
  const char* newline =
      std::find(std::make_reverse_iterator(where.begin), std::make_reverse_iterator(begin), '\n').base();
  const bool cutFront = newline == begin && begin != textBegin && begin[-1] != '\n';
  begin = newline;
  while (cutFront && isContinuation(*begin)) {
    ++begin;
  }
  const char* limit = where.begin + std::min(bytesAfter, textEnd - where.begin);
  const char* end = std::find(where.begin, limit, '\n');
  const bool cutBack = end == limit && limit != textEnd && *limit != '\n';
  while (cutBack && isContinuation(*end)) {
    --end;
  }
  while (!cutBack && end > begin && end[-1] == '\r') {
    --end;
  }
  if (begin == textBegin && text_.substr(0, 3) == "\xEF\xBB\xBF") {
    begin += 3; // the byte order mark takes no column
  }
  const std::string_view line(begin, static_cast<size_t>(end - begin));
  diagnostic.lineStart = where.column - codePoints(line.substr(0, static_cast<size_t>(where.begin - begin)));
  diagnostic.lineText = printable(line);
  if (cutFront) {
    diagnostic.lineText.insert(0, cut);
    --diagnostic.lineStart;
  }
  diagnostic.lineText += cutBack ? cut : "";
  const char* last = std::clamp(where.end, where.begin, std::max(where.begin, end));
  diagnostic.width = std::max(1U, codePoints({where.begin, static_cast<size_t>(last - where.begin)}));
}

Diagnostics Complaints::sorted() && {
  std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
  });
  if (full()) {
    errors_.push_back({Severity::Error,
                       {fileName_, 0, 0},
                       fmt::format("stopped after {} errors; there may be more", most),
                       "is this a graph file?"});
  }
  return std::move(errors_);
}

} // namespace dfc::text
