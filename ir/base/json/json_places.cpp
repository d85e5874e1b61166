// One pass over the text with a stack of the objects and arrays that are open; no recursion, so that depth
// costs only memory.
#include "ir/base/json/json_places.h"
#include "ir/base/utf8.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc {

constexpr size_t longestShownLine = 240;

class JsonScanner {
 public:
  JsonScanner(std::string_view text, JsonPlaces& places) : text_(text), places_(places) {}

  void run() {
    while (at_ < text_.size()) {
      step(text_[at_]);
    }
  }

 private:
  struct Level {
    std::string path; // of the container
    bool object = false;
    size_t index = 0;    // of the next element of an array
    std::string pending; // path of the member whose value comes next
  };

  void step(char c) {
    switch (c) {
    case '{':
    case '[':
      note(at_ + 1);
      open_.push_back({pathOfNext(), c == '{', 0, {}});
      advance();
      break;
    case '}':
    case ']':
      DFC_ASSERT(!open_.empty(), "places of a text that is no JSON");
      open_.pop_back();
      closeValue();
      advance();
      break;
    case '"': string(); break;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
    case ':': advance(); break;
    default: scalar(); break;
    }
  }

  void advance(size_t count = 1) {
    for (; count > 0; --count, ++at_) {
      const bool newLine = text_[at_] == '\n';
      line_ += newLine ? 1 : 0;
      column_ = newLine ? 1 : column_ + codePoints(text_.substr(at_, 1));
    }
  }

  JsonPlace placeUpTo(size_t end) const { return {line_, column_, codePoints(text_.substr(at_, end - at_))}; }

  std::string pathOfNext() const {
    if (open_.empty()) {
      return "";
    }
    const Level& top = open_.back();
    return top.object ? top.pending : fmt::format("{}[{}]", top.path, top.index);
  }

  /// A value begins here.
  void note(size_t end) { places_.values_.insert_or_assign(pathOfNext(), placeUpTo(end)); }

  void closeValue() {
    if (!open_.empty()) {
      ++open_.back().index;
      open_.back().pending.clear();
    }
  }

  void scalar() {
    const size_t end = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    note(end);
    advance(end - at_);
    closeValue();
  }

  void string() {
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    end = std::min(end + 1, text_.size());
    const bool isKey = !open_.empty() && open_.back().object && open_.back().pending.empty();
    if (isKey) {
      key(text_.substr(at_ + 1, end - at_ - 2), placeUpTo(end));
    } else {
      note(end);
    }
    advance(end - at_);
    if (!isKey) {
      closeValue();
    }
  }

  /// Names with escapes keep them: only our own plain names are ever asked for.
  void key(std::string_view name, const JsonPlace& place) {
    Level& top = open_.back();
    top.pending = top.path.empty() ? std::string(name) : fmt::format("{}.{}", top.path, name);
    if (!places_.keys_.try_emplace(top.pending, place).second) {
      places_.repeated_.emplace_back(top.pending, place);
    }
    top.pending = top.pending.empty() ? "\"\"" : top.pending;
  }

  std::string_view text_;
  JsonPlaces& places_;
  std::vector<Level> open_;
  size_t at_ = 0;
  uint32_t line_ = 1, column_ = 1;
};

JsonPlaces::JsonPlaces(std::string_view text) { JsonScanner(text, *this).run(); }

JsonPlace JsonPlaces::value(const std::string& path) const {
  auto found = values_.find(path);
  for (std::string around = path; found == values_.end() && !around.empty();) {
    around = pathAround(around);
    found = values_.find(around);
  }
  return found == values_.end() ? JsonPlace{} : found->second;
}

JsonPlace JsonPlaces::key(const std::string& path) const {
  const auto found = keys_.find(path);
  return found == keys_.end() ? value(path) : found->second;
}

JsonPlace placeOfOffset(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t lineStart = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          codePoints(before.substr(lineStart)) + 1, 1};
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t start = 0; start != std::string_view::npos;) {
    const size_t end = text.find('\n', start);
    std::string_view line = text.substr(start, end == std::string_view::npos ? end : end - start);
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    lines.push_back(line);
    start = end == std::string_view::npos ? end : end + 1;
  }
  return lines;
}

std::string shownLine(std::string_view line) {
  return line.size() > longestShownLine ? std::string() : printable(line);
}

std::string pathAround(const std::string& path) {
  const size_t cut = path.find_last_of(".[");
  return cut == std::string::npos ? "" : path.substr(0, cut);
}

} // namespace dfc
