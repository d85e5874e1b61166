#include "ir/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

namespace {

std::string withoutLastNewline(std::string text) {
  text.resize(text.size() - (text.ends_with('\n') ? 1 : 0));
  return text;
}

std::string place(const SourceLocation& where) {
  if (where.file.empty() && where.line == 0) {
    return "";
  }
  std::string text = where.file.empty() ? "<input>" : where.file;
  if (where.line != 0) {
    text += fmt::format(":{}", where.line);
  }
  if (where.column != 0) {
    text += fmt::format(":{}", where.column);
  }
  return text + ": ";
}

// Tabs stay tabs below the line, so that the caret lines up however wide a terminal draws them. Columns count
// code points: the bytes that continue one take no room.
std::string caretLine(const Diagnostic& diagnostic) {
  std::string pad;
  size_t at = 0;
  for (uint32_t column = diagnostic.lineStart; column < diagnostic.where.column; ++column) {
    pad += at < diagnostic.lineText.size() && diagnostic.lineText[at] == '\t' ? '\t' : ' ';
    do {
      ++at;
    } while (at < diagnostic.lineText.size() &&
             (static_cast<unsigned char>(diagnostic.lineText[at]) & 0xC0U) == 0x80U);
  }
  return pad + '^' + std::string(diagnostic.width > 1 ? diagnostic.width - 1 : 0, '~');
}

char lowerCase(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

// In half letters: a letter too many, too few or another costs 2, as do two neighbours that are swapped; the
// other case costs 1.
size_t editDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> before, above, row(b.size() + 1); // of two letters of `a` less, of one less, of `i`
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = 2 * j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = 2 * i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = lowerCase(a[i - 1]) == lowerCase(b[j - 1]) ? 1 : 2;
      const size_t substitute = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : change);
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 2);
      }
    }
  }
  return row[b.size()];
}

} // namespace

Error::Error(Diagnostics errors)
    : std::runtime_error(withoutLastNewline(render(errors))),
      diagnostics_(std::make_shared<const Diagnostics>(std::move(errors))) {}

std::string render(const Diagnostic& diagnostic) {
  const char* kind = diagnostic.severity == Severity::Error ? "error" : "warning";
  std::string text = fmt::format("{}{}: {}\n", place(diagnostic.where), kind, diagnostic.message);
  if (!diagnostic.lineText.empty()) {
    text += fmt::format("  {}\n", diagnostic.lineText);
    if (diagnostic.where.column != 0) {
      text += fmt::format("  {}\n", caretLine(diagnostic));
    }
  }
  if (!diagnostic.note.empty()) {
    text += fmt::format("  note: {}\n", diagnostic.note);
  }
  if (!diagnostic.hint.empty()) {
    text += fmt::format("  hint: {}\n", diagnostic.hint);
  }
  return text;
}

std::string render(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += render(diagnostic);
  }
  return text;
}

Diagnostic inScope(Diagnostic diagnostic, std::string_view scope) {
  if (!scope.empty()) {
    diagnostic.note = fmt::format("in scope '{}'", scope);
  }
  return diagnostic;
}

Diagnostic errorWithoutPlace(std::string message, std::string hint) {
  return {Severity::Error, {}, std::move(message), std::move(hint)};
}

std::optional<std::string> nearestName(const std::string& word, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  size_t bestDistance = 2 * std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = editDistance(word, candidate);
    const bool sharesNothing = distance >= 2 * word.size(); // 2 for each letter replaced
    if (distance < bestDistance && !sharesNothing) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

} // namespace dfc
