#include "ir/graph/rules/type_list.h"

#include <fmt/format.h>

#include <charconv>

namespace dfc {
namespace {

constexpr std::string_view form =
    "types are written as \"f32[2, 3], i64[]\": an element type and its dimensions";

TypeResult wrong(std::string why) { return TypeResult::fail(std::move(why), std::string(form)); }

/// Reads a text from its front; blanks are passed over.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool atEnd() {
    skipBlanks();
    return rest_.empty();
  }
  bool take(char wanted) {
    skipBlanks();
    const bool there = rest_.starts_with(wanted);
    rest_.remove_prefix(there ? 1 : 0);
    return there;
  }
  /// Letters and digits; "" where there are none.
  std::string_view word() {
    skipBlanks();
    size_t length = 0;
    while (length < rest_.size() && isWordLetter(rest_[length])) {
      ++length;
    }
    const std::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }
  std::optional<int64_t> dimension() {
    skipBlanks();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

 private:
  static bool isWordLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  void skipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  std::string_view rest_;
};

TypeResult unknownElement(std::string_view word) {
  std::string names;
  for (const ElementType type : allElementTypes) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(type));
  }
  return TypeResult::fail(fmt::format("'{}' is no element type", word.substr(0, 16)),
                          fmt::format("it is one of {}", names));
}

TypeResult readType(Reader& reader) {
  const std::string_view word = reader.word();
  const auto element = elementTypeNamed(word);
  if (!element) {
    return unknownElement(word);
  }
  Dims dims;
  if (!reader.take('[')) {
    return wrong(fmt::format("{} without its dimensions in brackets", name(*element)));
  }
  while (!reader.take(']')) {
    const auto dimension = !dims.empty() && !reader.take(',') ? std::nullopt : reader.dimension();
    if (!dimension) {
      return wrong(fmt::format("dimension {} of a type is no number of 0 or more", dims.size()));
    }
    dims.push_back(*dimension);
    if (dims.size() > Shape::maxRank) {
      return wrong(fmt::format("a type of more than {} dimensions", Shape::maxRank));
    }
  }
  return TypeResult::of({*element, Shape(dims)});
}

} // namespace

std::string typeListText(llvm::ArrayRef<TensorType> types) {
  std::string text;
  for (const TensorType& type : types) {
    text += (text.empty() ? "" : ", ") + toString(type);
  }
  return text;
}

TypeResult typesOfText(std::string_view text) {
  Reader reader(text);
  TypeResult all;
  if (reader.atEnd()) {
    return wrong("no types");
  }
  do {
    TypeResult next = readType(reader);
    if (!next.ok()) {
      return next;
    }
    all.types.push_back(next.types[0]);
  } while (reader.take(','));
  return reader.atEnd() ? all : wrong("more behind the last type than a comma and another type");
}

} // namespace dfc
