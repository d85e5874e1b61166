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
  return symbol.value;
}

bool Symbols::declare(std::string_view name, const Token& where) {
  Symbol& symbol = symbols_[key(name)];
  if (symbol.declaredLine == 0) {
    symbol.declaredLine = where.line;
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
      complaints_.add(
          spanOf(where), fmt::format("{} is used before it is defined", shown(name)),
          symbol.declaredLine == where.line
              ? "a value cannot take part in its own definition; give the new one another name"
              : fmt::format("its definition is on line {}; move it above this one", symbol.declaredLine));
    } else {
      complaints_.add(spanOf(where), fmt::format("unknown value {}", shown(name)), hintFor(name));
    }
  }
}

// The nearest defined name. A file of many names and many errors must not take quadratic time, so there is a
// limit to how many letters are compared in all.
std::string Symbols::hintFor(std::string_view name) {
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
