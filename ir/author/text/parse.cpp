// See parse.h: what is asked of a text before it is parsed.
#include "ir/author/text/parse.h"
#include "ir/base/utf8.h"

#include "ir/author/text/parser.h"
#include "ir/author/text/quote.h"
#include "ir/author/text/units.h"
#include "ir/base/atomic_file.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {
namespace {

Diagnostic notUtf8(std::string_view text, size_t offset, const std::string& fileName) {
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  const size_t begin = before.rfind('\n') + 1; // npos + 1 is 0
  const text::Span place{text.data() + offset, text.data() + offset + 1, line,
                         codePoints(before.substr(begin)) + 1};
  text::Complaints complaints(text, fileName);
  complaints.add(place,
                 fmt::format("byte 0x{:02x} is no part of UTF-8 text", static_cast<uint8_t>(text[offset])),
                 "save the file as UTF-8; a byte inside a name can be written \"\\xNN\"");
  return std::move(complaints).sorted().front();
}

} // namespace

Result<Graph> parseGraph(std::string_view text, const std::string& fileName) {
  if (text.size() > largestGraphFile) {
    return Diagnostic{Severity::Error,
                      {fileName, 0, 0},
                      fmt::format("a graph of {} of text", humanBytes(static_cast<int64_t>(text.size()))),
                      fmt::format("at most {} are read; keep large data in array files: = file(\"w.npy\")",
                                  humanBytes(static_cast<int64_t>(largestGraphFile)))};
  }
  if (const auto bad = firstBadUtf8(text)) {
    return notUtf8(text, *bad, fileName);
  }
  return text::Parser(text, fileName).run();
}

Result<Graph> readGraph(const std::string& path) {
  const Result<std::string> text = readTextFile(path, largestGraphFile);
  return text ? parseGraph(*text, path) : Result<Graph>(text.errors());
}

} // namespace dfc
