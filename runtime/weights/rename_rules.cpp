// A pattern with stars becomes a regular expression, whose groups are what the stars stand for.
#include "runtime/weights/rename_rules.h"

#include "ir/base/atomic_file.h"
#include "ir/base/utf8.h"
#include "runtime/data/convert_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <regex>
#include <vector>

namespace dfc {

struct RenameRules::Rule {
  std::regex pattern;
  std::string name; // in regex_replace's format
  bool drops = false;
  std::optional<Dims> permutation; // empty: the two axes of a matrix
  std::optional<ElementType> element;
};

struct RenameRules::Rules {
  std::vector<Rule> all;
};

namespace {

constexpr uint64_t longestFile = uint64_t(1) << 24;
constexpr size_t longestName = 1000; // the matcher's stack grows with it

struct Word {
  std::string_view text;
  uint32_t column = 1;
};

std::vector<Word> wordsOf(std::string_view line) {
  std::vector<Word> words;
  constexpr std::string_view blank = " \t\r";
  for (size_t at = line.find_first_not_of(blank); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(blank, at), line.size());
    words.push_back({line.substr(at, end - at), codePoints(line.substr(0, at)) + 1});
    at = line.find_first_not_of(blank, end);
  }
  return words;
}

std::string regexOf(std::string_view glob) {
  std::string regex;
  for (const char c : glob) {
    if (c == '*') {
      regex += "(.*)";
    } else {
      regex += std::string_view("\\^$.|?+()[]{}/").find(c) == std::string_view::npos ? "" : "\\";
      regex += c;
    }
  }
  return regex;
}

/// The name with its k-th star as the k-th group.
std::string formatOf(std::string_view name) {
  std::string format;
  int group = 0;
  for (const char c : name) {
    format += c == '*' ? fmt::format("${:02}", ++group) : c == '$' ? std::string("$$") : std::string(1, c);
  }
  return format;
}

std::optional<ElementType> elementNamed(std::string_view word) {
  const auto* found = std::find_if(allElementTypes.begin(), allElementTypes.end(),
                                   [&](ElementType element) { return name(element) == word; });
  return found == allElementTypes.end() ? std::nullopt : std::optional(*found);
}

/// "(2,0,1)" as a permutation.
std::optional<Dims> permutationOf(std::string_view text) {
  Dims axes;
  if (text.size() < 3 || text.front() != '(' || text.back() != ')') {
    return std::nullopt;
  }
  text = text.substr(1, text.size() - 2);
  for (const char* at = text.data(); axes.size() < Shape::maxRank;) {
    int64_t axis = 0;
    const auto [end, failure] = std::from_chars(at, text.data() + text.size(), axis);
    if (failure != std::errc()) {
      return std::nullopt;
    }
    axes.push_back(axis);
    if (end == text.data() + text.size()) {
      std::vector<int64_t> sorted(axes.begin(), axes.end()), wanted(axes.size());
      std::sort(sorted.begin(), sorted.end());
      std::iota(wanted.begin(), wanted.end(), 0);
      return sorted == wanted ? std::optional(axes) : std::nullopt;
    }
    if (*end != ',') {
      return std::nullopt;
    }
    at = end + 1;
  }
  return std::nullopt;
}

/// Element by element, as casts do.
Literal castLiteral(const Literal& value, ElementType element) {
  Literal result({element, value.type().shape});
  for (int64_t i = 0; i < value.type().shape.elements(); ++i) {
    result.set(i, value.at(i));
  }
  return result;
}

Literal transposedLiteral(const Literal& value, const Dims& permutation) {
  const Shape& from = value.type().shape;
  Dims dims, strides(from.rank(), 1), steps;
  for (size_t axis = from.rank(); axis-- > 1;) {
    strides[axis - 1] = strides[axis] * from[axis];
  }
  for (const int64_t axis : permutation) {
    dims.push_back(from[static_cast<size_t>(axis)]);
    steps.push_back(strides[static_cast<size_t>(axis)]);
  }
  Literal result({value.type().element, Shape(dims)});
  const auto width = static_cast<size_t>(byteWidth(value.type().element));
  std::byte* to = result.mutableBytes().data();
  Dims index(dims.size(), 0);
  int64_t at = 0; // in the tensor
  for (int64_t i = 0; i < from.elements(); ++i) {
    std::copy_n(value.bytes().data() + static_cast<size_t>(at) * width, width,
                to + static_cast<size_t>(i) * width);
    for (size_t axis = dims.size(); axis-- > 0;) {
      at += steps[axis];
      if (++index[axis] < dims[axis]) {
        break;
      }
      at -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
  return result;
}

} // namespace

namespace {

/// Reads a text of rules.
class RuleReader {
 public:
  RuleReader(std::string_view line, uint32_t number, const std::string& fileName, Diagnostics& errors)
      : line_(line), number_(number), fileName_(fileName), errors_(errors), words_(wordsOf(line)) {}

  template <class Rule>
  std::optional<Rule> read() {
    const size_t before = errors_.size();
    Rule rule;
    if (words_[0].text == "drop") {
      rule.drops = true;
      words_.size() == 2 ? setPattern(rule, words_[1])
                         : complain(words_.back(), "'drop' takes one pattern", "drop PATTERN");
    } else if (words_.size() < 3 || words_[1].text != "->") {
      complain(words_[0], "is no rule", "PATTERN -> NAME, or drop PATTERN");
    } else {
      setPattern(rule, words_[0]);
      setName(rule);
      setWords(rule);
    }
    return errors_.size() == before ? std::optional(std::move(rule)) : std::nullopt;
  }

 private:
  bool isRegex() const {
    return words_[0].text.size() > 2 && words_[0].text.front() == '/' && words_[0].text.back() == '/';
  }

  template <class Rule>
  void setPattern(Rule& rule, const Word& word) {
    const bool regex = word.text.size() > 2 && word.text.front() == '/' && word.text.back() == '/';
    try {
      rule.pattern =
          std::regex(regex ? std::string(word.text.substr(1, word.text.size() - 2)) : regexOf(word.text));
    } catch (const std::regex_error& error) {
      complain(word, fmt::format("is no regular expression: {}", error.what()),
               "the syntax is that of ECMAScript; a pattern without slashes needs no escapes");
    }
  }

  template <class Rule>
  void setName(Rule& rule) {
    const std::string_view name = words_[2].text;
    const auto stars = [](std::string_view text) { return std::count(text.begin(), text.end(), '*'); };
    if (!isRegex() && stars(name) > stars(words_[0].text)) {
      complain(words_[2],
               fmt::format("has {} '*', but the pattern only {}", stars(name), stars(words_[0].text)),
               "each '*' of a name is one of the pattern's");
    }
    rule.name = isRegex() ? std::string(name) : formatOf(name);
  }

  template <class Rule>
  void setWords(Rule& rule) {
    for (size_t i = 3; i < words_.size(); ++i) {
      const std::string_view word = words_[i].text;
      if (word == "transposed") {
        rule.permutation = Dims();
      } else if (word.starts_with("transposed(") && permutationOf(word.substr(10))) {
        rule.permutation = permutationOf(word.substr(10));
      } else if (word == "as" && i + 1 < words_.size() && elementNamed(words_[i + 1].text)) {
        rule.element = elementNamed(words_[++i].text);
      } else {
        complain(words_[i], fmt::format("'{}' says nothing about a tensor", word),
                 "transposed, transposed(1,0,2) or as f32");
      }
    }
  }

  void complain(const Word& word, std::string message, std::string hint) {
    Diagnostic error{Severity::Error, {fileName_, number_, word.column}, std::move(message), std::move(hint)};
    error.lineText = printable(line_);
    error.width = std::max<uint32_t>(codePoints(word.text), 1);
    errors_.push_back(std::move(error));
  }

  std::string_view line_;
  uint32_t number_;
  const std::string& fileName_;
  Diagnostics& errors_;
  std::vector<Word> words_;
};

} // namespace

RenameRules::RenameRules() : rules_(std::make_shared<Rules>()) {}

Result<RenameRules> RenameRules::parse(std::string_view text, const std::string& fileName) {
  auto rules = std::make_shared<Rules>();
  Diagnostics errors;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    if (auto rule = RuleReader(line, number, fileName, errors).read<Rule>()) {
      rules->all.push_back(*std::move(rule));
    }
  }
  if (!errors.empty()) {
    return errors;
  }
  RenameRules result;
  result.rules_ = std::move(rules);
  return result;
}

Result<RenameRules> RenameRules::read(const std::string& path) {
  const auto text = readTextFile(path, longestFile);
  return text ? parse(*text, path) : text.errors();
}

Result<NamedLiterals> RenameRules::apply(const NamedLiterals& tensors, const std::string& file) const {
  NamedLiterals renamed;
  std::map<std::string, std::string> before;
  Diagnostics errors;
  const auto complain = [&](std::string message, std::string hint) {
    errors.push_back({Severity::Error, {file}, std::move(message), std::move(hint)});
  };
  for (const auto& [name, value] : tensors) {
    std::smatch match;
    const auto rule =
        std::find_if(rules_->all.begin(), rules_->all.end(), [&, text = &name](const Rule& one) {
          return text->size() <= longestName && std::regex_match(*text, match, one.pattern);
        });
    const bool found = rule != rules_->all.end();
    if (found && rule->drops) {
      continue;
    }
    const std::string next = found ? match.format(rule->name) : name;
    Literal made = value;
    if (found && rule->permutation) {
      const Dims axes = rule->permutation->empty() ? Dims{1, 0} : *rule->permutation;
      if (axes.size() != value.type().shape.rank()) {
        complain(fmt::format("tensor '{}' is {}, which is not transposed by {} axes", name,
                             toString(value.type()), axes.size()),
                 "change the rule, or write one for this name before it");
        continue;
      }
      made = transposedLiteral(made, axes);
    }
    if (found && rule->element && *rule->element != made.type().element) {
      if (const auto beyond = firstBeyond(*rule->element, made)) {
        complain(fmt::format("tensor '{}': element {} is {}, which {} cannot hold", name, *beyond,
                             made.at(*beyond), dfc::name(*rule->element)),
                 "cast it to a wider type");
      }
      made = castLiteral(made, *rule->element);
    }
    const auto [earlier, isNew] = before.emplace(next, name);
    if (!isNew) {
      complain(
          fmt::format("tensors '{}' and '{}' are both named '{}' by the rules", earlier->second, name, next),
          "change a rule, or drop one of them");
    }
    renamed.insert_or_assign(next, std::move(made));
  }
  if (!errors.empty()) {
    return errors;
  }
  return renamed;
}

} // namespace dfc
