// nlohmann's parser judges the text in a first pass that builds nothing and knows where it stopped; only what
// it accepts is then built.
#include "ir/base/json/json_document.h"
#include "ir/base/utf8.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallSet.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <tuple>

namespace dfc {
namespace {

using Json = nlohmann::json;

constexpr std::string_view separators = " \t\r\n,:[]{}\"";

/// Says yes to everything and remembers the first complaint, and whether an object has two members of a name.
class Judge : public nlohmann::json_sax<Json> {
 public:
  explicit Judge(size_t deepest) : deepest_(deepest) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const Json::string_t&) override { return true; }
  bool string(Json::string_t&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool key(Json::string_t& name) override {
    repeats = !names_[depth_].insert(name).second || repeats;
    return true;
  }
  bool start_object(size_t) override {
    const bool fits = enter();
    names_.resize(std::max(names_.size(), depth_ + 1));
    names_[depth_].clear();
    return fits;
  }
  bool start_array(size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(size_t position, const std::string& last,
                   const nlohmann::detail::exception& error) override {
    end = position;
    token = last;
    reason = reasonOf(error.what());
    return false;
  }

  size_t end = 0;     ///< of what was read; at the end of the text one more than there is
  std::string token;  ///< read last
  std::string reason; ///< empty when nesting was too deep
  bool repeats = false;

 private:
  bool enter() { return ++depth_ <= deepest_; }
  bool leave() {
    --depth_;
    return true;
  }

  /// "… syntax error while parsing object - unexpected ']'; expected '}'" without what a reader cannot use.
  static std::string reasonOf(std::string text) {
    const size_t dash = text.find(" - ");
    if (dash == std::string::npos) {
      return text.find("number overflow") == std::string::npos ? "broken JSON" : "the number is too large";
    }
    text = text.substr(dash + 3);
    const size_t last = text.find("; last read: ");
    const size_t expected = text.find("; expected ", last == std::string::npos ? 0 : last);
    const std::string tail = expected == std::string::npos ? "" : text.substr(expected);
    return last == std::string::npos ? text : text.substr(0, last) + tail;
  }

  size_t deepest_, depth_ = 0;
  std::vector<llvm::SmallSet<std::string, 16>> names_; // by depth: of the members of the open object
};

/// Where a complaint begins and how many bytes it is about.
struct TextRange {
  size_t begin, width;
};

/// The word of `text` that holds the byte at `at`; begins there when that opens a text or comment elsewhere.
TextRange wordAt(std::string_view text, size_t at) {
  constexpr std::string_view foreign = "'/#";
  const bool opens = foreign.find(text[at]) != std::string_view::npos;
  const size_t begin = opens ? at : text.find_last_of(separators, at) + 1;
  const size_t end = std::min(text.find_first_of(separators, at), text.size());
  return {begin, std::max(end, begin + 1) - begin};
}

/// The token at which the parser stopped. The parser knows the beginning of a string alone (it keeps the last
/// string or number until the next one), so other tokens are looked for in the text.
TextRange stoppedAt(std::string_view text, const Judge& judge) {
  const size_t last = std::min(std::max<size_t>(judge.end, 1) - 1, text.size());
  if (judge.reason.starts_with("unexpected string") || judge.reason.starts_with("invalid string")) {
    const bool whole = last < text.size() && text.substr(0, last + 1).ends_with(judge.token);
    const size_t width = whole ? judge.token.size() : 1;
    return {last + 1 - width, width};
  }
  const bool between = last == text.size() || separators.find(text[last]) != std::string_view::npos;
  if (!between) {
    return wordAt(text, last);
  }
  // An invalid token ended too early, before the separator; an unexpected token is the separator.
  const bool endedEarly = last > 0 && judge.reason.starts_with("invalid");
  return endedEarly ? wordAt(text, last - 1) : TextRange{last, 1};
}

char lastVisibleBefore(std::string_view text, size_t offset) {
  const size_t found = offset == 0 ? std::string_view::npos : text.find_last_not_of(" \t\r\n", offset - 1);
  return found == std::string_view::npos ? '\0' : text[found];
}

// Of the literals of other languages, and of numbers that JSON lacks: what to write instead.
std::string literalHint(std::string_view rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(separators));
  std::string lower(word.substr(0, 16));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  const std::string_view unsignedWord =
      std::string_view(lower).substr(lower.starts_with('-') || lower.starts_with('+') ? 1 : 0);
  if (unsignedWord == "nan") {
    return "JSON has no NaN; write a finite number, or leave the member out";
  }
  if (unsignedWord == "inf" || unsignedWord == "infinity") {
    return "JSON has no infinite numbers; write a finite one, or leave the member out";
  }
  const bool isForeign = lower != word; // True, NULL
  if (isForeign && (lower == "true" || lower == "false")) {
    return "JSON's literals are written small: true, false, null";
  }
  return lower == "none" || lower == "nil" || (isForeign && lower == "null") ? "JSON writes null" : "";
}

std::string syntaxHint(std::string_view text, size_t offset, const std::string& reason) {
  const char here = offset < text.size() ? text[offset] : '\0';
  const char before = lastVisibleBefore(text, offset);
  if (reason.find("unexpected end of input") != std::string::npos) {
    return before == '\0' ? "the file is empty" : "the file ends too early; is a bracket left open?";
  }
  if (reason.find("missing closing quote") != std::string::npos) {
    return offset >= text.size() ? "the file ends too early, within a text" : "is the closing quote missing?";
  }
  if ((here == '}' || here == ']') && before == ',') {
    return "remove the comma before it";
  }
  if (here == '\'') {
    return "texts stand in double quotes";
  }
  if (here == '/' || here == '#') {
    return "JSON has no comments; put them into a README beside the file";
  }
  if (const std::string hint = literalHint(text.substr(std::min(offset, text.size()))); !hint.empty()) {
    return hint;
  }
  if (reason.find("unexpected string literal; expected") != std::string::npos) {
    return "is a comma missing before it?";
  }
  return "";
}

} // namespace

JsonDocument::JsonDocument(std::string_view text, std::string fileName, size_t deepest)
    : text_(text), fileName_(std::move(fileName)) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") {
    text_.remove_prefix(3);
  }
  // The parser takes one for the end of the text, wherever it stands.
  if (const size_t nul = text_.find('\0'); nul != std::string_view::npos) {
    refuseSyntax(nul, 1, "a byte that is zero, which no JSON holds");
    return;
  }
  Judge judge(deepest);
  if (!Json::sax_parse(text_, &judge)) {
    const auto [begin, width] = stoppedAt(text_, judge);
    refuseSyntax(begin, width, judge.reason);
    return;
  }
  lines_ = linesOf(text_);
  root_ = std::make_unique<Json>(Json::parse(text_));
  if (judge.repeats) {
    refuseRepeated();
  }
}

JsonDocument::~JsonDocument() = default;

const JsonPlaces& JsonDocument::places() {
  if (places_ == nullptr) {
    places_ = std::make_unique<JsonPlaces>(text_);
  }
  return *places_;
}

void JsonDocument::refuseRepeated() {
  for (const auto& [path, place] : places().repeated()) {
    add(path, place, "the name is there already", "keep one of the two");
    remember(path);
  }
}

void JsonDocument::refuseSyntax(size_t offset, size_t width, const std::string& reason) {
  if (reason.empty()) {
    errors_.push_back({Severity::Error, {fileName_, 0, 0}, "the JSON is nested too deep to be meant"});
    return;
  }
  const JsonPlace place = placeOfOffset(text_, offset);
  errors_.push_back({Severity::Error,
                     {fileName_, place.line, place.column},
                     reason,
                     syntaxHint(text_, offset, reason),
                     shownLine(linesOf(text_)[place.line - 1]),
                     std::max(1U, codePoints(text_.substr(offset, width)))});
}

void JsonDocument::add(const std::string& path, const JsonPlace& place, const std::string& message,
                       std::string hint) {
  errors_.push_back({Severity::Error,
                     {fileName_, place.line, place.column},
                     path.empty() ? message : fmt::format("{}: {}", path, message),
                     std::move(hint),
                     place.line == 0 ? "" : shownLine(lines_[place.line - 1]),
                     place.width});
}

void JsonDocument::remember(const std::string& path) {
  exact_.insert(path);
  for (std::string around = path; around_.insert(around).second && !around.empty();) {
    around = pathAround(around);
  }
}

void JsonDocument::errorAt(const std::string& path, const std::string& message, std::string hint) {
  add(path, places().value(path), message, std::move(hint));
  remember(path);
}

void JsonDocument::errorAtKey(const std::string& path, const std::string& message, std::string hint) {
  add(path, places().key(path), message, std::move(hint));
  remember(path);
}

void JsonDocument::errorMissing(const std::string& path, const std::string& key, std::string hint) {
  add(path, places().value(path), fmt::format("\"{}\" is missing", key), std::move(hint));
  remember(path.empty() ? key : fmt::format("{}.{}", path, key));
}

bool JsonDocument::complainedOf(const std::string& path) const {
  if (around_.count(path) != 0 || exact_.count("") != 0) {
    return true;
  }
  for (std::string around = pathAround(path); !around.empty(); around = pathAround(around)) {
    if (exact_.count(around) != 0) {
      return true;
    }
  }
  return false;
}

Diagnostics JsonDocument::takeErrors() {
  std::stable_sort(errors_.begin(), errors_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.where.line, a.where.column) < std::tie(b.where.line, b.where.column);
  });
  return std::move(errors_);
}

} // namespace dfc
