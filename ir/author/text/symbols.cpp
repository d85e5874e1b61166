// See symbols.h.
#include "ir/author/text/symbols.h"

#include "ir/author/text/quote.h"

#include <fmt/format.h>

#include <algorithm>

namespace dfc::text {
namespace {

llvm::StringRef key(std::string_view name) { return {name.data(), name.size()}; }

} // namespace

ValueId Symbols::use(std::string_view name, const Token& where) {
  Symbol& symbol = symbols_[key(name)];
  if (symbol.declaredLine == 0 && !symbol.usedTooEarly) {
    symbol.usedTooEarly = true;
    usedTooEarly_.emplace_back(name, where);
  }
  if (!usedTooEarly_.empty()) {
    usedHere_.push_back(key(name));
  }
  return symbol.value;
}

bool Symbols::declare(std::string_view name, const Token& where) {
  Symbol& symbol = symbols_[key(name)];
  if (symbol.declaredLine == 0) {
    symbol.declaredLine = where.line;
    if (!usedHere_.empty()) {
      madeOf_[key(name)] = usedHere_;
    }
    return true;
  }
  complaints_.add(spanOf(where), fmt::format("{} is defined twice", shown(name)),
                  fmt::format("the first is on line {}; give this one another name", symbol.declaredLine));
  symbol.value = {};
  return false;
}

void Symbols::poison(std::string_view name, const Token& where) {
  Symbol& symbol = symbols_[key(name)];
  symbol.declaredLine = symbol.declaredLine == 0 ? where.line : symbol.declaredLine;
}

void Symbols::define(std::string_view name, ValueId value) { symbols_[key(name)].value = value; }

void Symbols::complainOfUndefined() {
  for (const auto& [name, where] : usedTooEarly_) {
    if (complaints_.full()) {
      return;
    }
    const Symbol& symbol = symbols_[key(name)];
    if (symbol.declaredLine != 0) {
      complaints_.add(spanOf(where), fmt::format("{} is used before it is defined", shown(name)),
                      hintForEarly(name, where));
    } else {
      complaints_.add(spanOf(where), fmt::format("unknown value {}", shown(name)), hintFor(name));
    }
  }
}

std::string Symbols::hintForEarly(std::string_view name, const Token& where) {
  const uint32_t line = symbols_[key(name)].declaredLine;
  if (line == where.line) {
    return "a value cannot take part in its own definition; give the new one another name";
  }
  const std::vector<std::string_view> circle = circleOf(name);
  if (circle.empty()) {
    return fmt::format("its definition is on line {}; move it above this one", line);
  }
  std::string text = fmt::format("{} is made of itself:", shown(name));
  for (const std::string_view next : circle) {
    text += fmt::format(" {} (line {}) of", shown(next), symbols_[key(next)].declaredLine);
  }
  return fmt::format("{} {}; what one step hands to the next is a parameter with an assign", text,
                     shown(name));
}

// The names on a way from `name` over what each is made of back to it, `name` first; none where there is no
// way, or the search is too long.
std::vector<std::string_view> Symbols::circleOf(std::string_view name) {
  constexpr size_t limit = 1'000'000, most = 8;
  const llvm::StringRef start = key(name);
  llvm::DenseMap<llvm::StringRef, llvm::StringRef> cameFrom;
  std::vector<llvm::StringRef> open = {start};
  for (size_t i = 0; i < open.size() && circleEffort_ < limit; ++i) {
    for (const llvm::StringRef next : madeOf_.lookup(open[i])) {
      ++circleEffort_;
      if (next == start) {
        std::vector<std::string_view> way = {open[i]};
        while (key(way.back()) != start) {
          way.push_back(cameFrom[key(way.back())]);
        }
        std::reverse(way.begin(), way.end());
        way.resize(std::min(way.size(), most));
        return way;
      }
      if (cameFrom.try_emplace(next, open[i]).second) {
        open.push_back(next);
      }
    }
  }
  return {};
}

// The nearest defined name. A file of many names and many errors must not take quadratic time, so there is a
// limit to how many letters are compared in all.
std::string Symbols::hintFor(std::string_view name) {
  if (name == "input" || name == "parameter" || name == "constant") {
    return fmt::format("a declaration begins with the word: {} x : f32[2, 3]{}", name,
                       name == "input"       ? ""
                       : name == "parameter" ? " = zeros()"
                                             : " = fill(1)");
  }
  if (name.ends_with(".T") && symbols_.count(key(name.substr(0, name.size() - 2))) > 0) {
    return fmt::format("a transpose is transpose({})", name.substr(0, name.size() - 2));
  }
  constexpr size_t limit = 10'000'000;
  constexpr size_t longest = 64;
  effort_ += symbols_.size();
  if (name.size() > longest || effort_ > limit) {
    return "define it above, or declare it as an input";
  }
  const size_t slack = std::max<size_t>(1, name.size() / 3);
  std::vector<std::string> near;
  for (const auto& [other, symbol] : symbols_) {
    const bool likeLength = other.size() <= name.size() + slack && other.size() + slack >= name.size();
    if (symbol.declaredLine != 0 && likeLength && effort_ < limit) {
      near.push_back(other.str());
      effort_ += name.size() * other.size();
    }
  }
  std::sort(near.begin(), near.end()); // the table has no order that a reader could see
  const auto nearest = nearestName(std::string(name), near);
  return nearest ? fmt::format("did you mean {}?", shown(*nearest))
                 : "define it above, or declare it as an input";
}

} // namespace dfc::text
